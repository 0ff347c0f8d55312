"""An agent on Anthropic's messages, with the tools of its session and no others.

    pip install packages/bridge-python anthropic
    ANTHROPIC_API_KEY=… HOB_URL=… python anthropic_loop.py    # asks for the secret of the session
"""

import asyncio

import hob
from anthropic import AsyncAnthropic
from hob import tools


async def main() -> None:
    async with await hob.enter() as session:
        made = await tools.of(session)
        client = AsyncAnthropic()
        messages: list = [{"role": "user", "content": "Sum up notes.txt."}]
        while True:
            answer = await client.messages.create(
                model="claude-sonnet-5-5", max_tokens=4096, messages=messages, tools=made.anthropic()
            )
            content = answer.content
            messages.append({"role": "assistant", "content": content})
            calls = [block for block in content if block.type == "tool_use"]
            if not calls:
                return print("".join(block.text for block in content if block.type == "text"))
            results = [await made.anthropic_result(call) for call in calls]
            messages.append({"role": "user", "content": results})


asyncio.run(main())
