"""An agent on Pydantic AI, with the tools of its session and no others. Any of its models will do.

    pip install packages/bridge-python 'pydantic-ai-slim[openai]'
    OPENAI_API_KEY=… HOB_URL=… python pydantic_ai_agent.py    # asks for the secret of the session
"""

import asyncio

import hob
from hob import tools
from pydantic_ai import Agent, Tool


def tool(each: tools.Function) -> Tool:
    return Tool.from_schema(each.coroutine, each.name, each.description, each.parameters)


async def main() -> None:
    async with await hob.enter() as session:
        made = await tools.of(session)
        agent = Agent("openai-chat:gpt-5.1", tools=[tool(each) for each in made.functions()])
        done = await agent.run("Sum up notes.txt.")
        print(done.output)


asyncio.run(main())
