"""An agent on the OpenAI Agents SDK, with the tools of its session and no others.

    pip install packages/bridge-python openai-agents
    OPENAI_API_KEY=… HOB_URL=… python openai_agents.py        # asks for the secret of the session

A `request` of the model interrupts the run, as the SDK does for an approval, and the person who answers is
Hob's. The SDK's approval grants nothing: a run that goes on without Hob's answer asks for it again. A call of
a gated cap waits within the run.
"""

import asyncio

import hob
from agents import Agent, FunctionTool, RunConfig, Runner
from hob import tools

# Traces go to OpenAI otherwise, with the texts that the tools read. An unknown tool ends the run otherwise.
CONFIG = RunConfig(tracing_disabled=True, tool_not_found_behavior="return_error_to_model")


def agent_for(made: tools.Tools, answers: dict[str, str]) -> Agent:
    def tool(each: tools.Function) -> FunctionTool:
        async def call(context, arguments: str) -> str:
            return answers.pop(context.tool_call_id, None) or await each.call(arguments)

        made = FunctionTool(each.name, each.description, each.parameters, call, strict_json_schema=False)
        made.needs_approval = each.name == tools.REQUEST
        return made

    return Agent(name="worker", model="gpt-5.1", tools=[tool(each) for each in made.functions()])


async def main() -> None:
    async with await hob.enter() as session:
        made, answers = await tools.of(session), {}
        agent = agent_for(made, answers)
        run = await Runner.run(agent, "Sum up notes.txt.", run_config=CONFIG)
        while run.interruptions:
            state = run.to_state()
            for item in run.interruptions:
                answer = await made.call(item.name, item.arguments)  # waits for Hob's person
                if answer.is_error:
                    state.reject(item, rejection_message=answer.text)
                else:
                    answers[item.call_id] = answer.text
                    state.approve(item)
            run = await Runner.run(agent, state, run_config=CONFIG)
        print(run.final_output)


if __name__ == "__main__":
    asyncio.run(main())
