"""An agent with the tools of its session over MCP: the MCP SDK starts `hob mcp`, and OpenAI's model calls.

    pip install mcp openai
    OPENAI_API_KEY=… HOB_URL=… HOB_SECRET_FILE=… python mcp_client.py    # `hob start` sets both of Hob
"""

import asyncio
import json
import os

from mcp import Client, StdioServerParameters
from openai import AsyncOpenAI

ENTRY = {name: os.environ.pop(name) for name in ("HOB_URL", "HOB_SECRET_FILE")}


async def main() -> None:
    model = AsyncOpenAI()
    async with Client(StdioServerParameters(command="hob", args=["mcp"], env=ENTRY)) as hob:
        listed = (await hob.list_tools()).tools
        tools = [
            dict(name=each.name, description=each.description, parameters=each.input_schema)
            for each in listed
        ]
        offered: list = [{"type": "function", "function": tool} for tool in tools]
        messages: list = [{"role": "user", "content": "Sum up notes.txt."}]
        while True:
            answer = await model.chat.completions.create(model="gpt-5.1", messages=messages, tools=offered)
            message = answer.choices[0].message
            messages.append(message)
            if not message.tool_calls:
                return print(message.content)
            for call in message.tool_calls:
                try:
                    done = await hob.call_tool(call.function.name, json.loads(call.function.arguments))
                    text = done.content[0].text
                except ValueError:
                    text = "the arguments are not JSON"
                messages.append({"role": "tool", "tool_call_id": call.id, "content": text})


asyncio.run(main())
