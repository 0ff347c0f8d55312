"""An agent on LangGraph, with the tools of its session and no others. Any chat model of LangChain will do.

    pip install hob-caps langgraph langchain-openai
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
    return StructuredTool(name=each.name, description=each.description, args_schema=each.parameters, coroutine=each.coroutine)


async def main() -> None:
    async with await hob.enter() as session:
        held = [tool(each) for each in (await tools.of(session)).functions()]
        model = ChatOpenAI(model="gpt-5.1").bind_tools(held)

        async def think(state: MessagesState) -> dict:
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState).add_node("think", think).add_node("tools", ToolNode(held, handle_tool_errors=True))
        graph.add_edge(START, "think").add_conditional_edges("think", tools_condition).add_edge("tools", "think")
        done = await graph.compile().ainvoke({"messages": [("user", "Sum up notes.txt.")]})
        print(done["messages"][-1].content)


asyncio.run(main())
