"""An agent on OpenAI's chat completions, with the tools of its session and no others.

    pip install packages/bridge-python openai
    OPENAI_API_KEY=… HOB_URL=… python openai_loop.py          # asks for the secret of the session
"""

import asyncio

import hob
from hob import tools
from openai import AsyncOpenAI


async def main() -> None:
    async with await hob.enter() as session:
        made = await tools.of(session)
        client = AsyncOpenAI()
        messages: list = [{"role": "user", "content": "Sum up notes.txt."}]
        while True:
            answer = await client.chat.completions.create(
                model="gpt-5.1", messages=messages, tools=made.openai()
            )
            message = answer.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return print(message.content)
            messages += [await made.openai_result(call) for call in message.tool_calls]


asyncio.run(main())
