"""An agent on LangGraph, with the tools of its session and no others. Any chat model of LangChain will do.

    pip install packages/bridge-python langgraph langchain-openai
    OPENAI_API_KEY=… HOB_URL=… python langgraph_agent.py      # asks for the secret of the session
"""

import asyncio

import hob
from hob import tools
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition


def tool(each: tools.Function) -> StructuredTool:
    return StructuredTool(
        name=each.name, description=each.description, args_schema=each.parameters, coroutine=each.coroutine
    )


async def main() -> None:
    async with await hob.enter() as session:
        held = [tool(each) for each in (await tools.of(session)).functions()]
        model = ChatOpenAI(model="gpt-5.1").bind_tools(held)

        async def think(state: MessagesState) -> dict:
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("think", think).add_edge(START, "think")
        graph.add_conditional_edges("think", tools_condition)
        graph.add_node("tools", ToolNode(held, handle_tool_errors=True)).add_edge("tools", "think")
        done = await graph.compile().ainvoke({"messages": [("user", "Sum up notes.txt.")]})
        print(done["messages"][-1].content)


asyncio.run(main())
