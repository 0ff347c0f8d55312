"""An agent on smolagents, with the tools of its session and `final_answer`, by which it ends.

    pip install packages/bridge-python 'smolagents[openai]'
    OPENAI_API_KEY=… HOB_URL=… python smolagents_agent.py     # asks for the secret of the session

Use its ToolCallingAgent. Its CodeAgent runs what the model writes in this process, with all that you may do.
"""

import asyncio
import os

import hob
from hob import tools
from smolagents import OpenAIModel, Tool, ToolCallingAgent


class HobTool(Tool):
    skip_forward_signature_validation = True
    output_type = "string"

    def __init__(self, each: tools.Function, loop: asyncio.AbstractEventLoop) -> None:
        self.name, self.description, self.each, self.loop = each.name, each.description, each, loop
        needed, schemas = each.parameters["required"], each.parameters["properties"].items()
        self.inputs = {
            name: {"description": name, "nullable": name not in needed, **schema} for name, schema in schemas
        }
        super().__init__()

    def forward(self, **arguments) -> str:
        return asyncio.run_coroutine_threadsafe(self.each.call(arguments), self.loop).result()


async def main() -> None:
    async with await hob.enter() as session:
        held = [HobTool(each, asyncio.get_running_loop()) for each in (await tools.of(session)).functions()]
        model = OpenAIModel("gpt-5.1", api_base=os.environ.get("OPENAI_BASE_URL"))
        agent = ToolCallingAgent(tools=held, model=model, verbosity_level=-1)
        print(await asyncio.to_thread(agent.run, "Sum up notes.txt."))


asyncio.run(main())
