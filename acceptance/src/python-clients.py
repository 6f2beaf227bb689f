# Prints as JSON what one client sees of a gateway: python3 python-clients.py CLIENT BASE_URL KEY KEY_WITHOUT_MONEY
import asyncio
import json
import os
import sys

client, base_url, key, poor = sys.argv[1:]
os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
MODEL = "gpt-4o-mini"
HELLO = "Say hello."
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
asked = []


def look(city: str) -> str:
    """The weather of a city."""
    asked.append(city)
    return "sun"


def raised(call):
    """The name of what is raised, and the status that it knows."""
    try:
        call()
    except Exception as error:  # whichever class the client has for it
        cause = error
        while cause is not None and not any(hasattr(cause, name) for name in ("status_code", "code")):
            cause = cause.__cause__ or cause.__context__
        status = getattr(cause, "status_code", None) or getattr(cause, "code", None)
        return [type(error).__name__, status]


def same(all_raised, of=0):
    """What all of them are, by one member or as a whole; the list of them where they differ."""
    seen = list(all_raised)
    return seen[0] if len({json.dumps(one and one[of:]) for one in seen}) == 1 else seen


def google_genai():
    from google import genai

    def with_key(api_key):
        return genai.Client(api_key=api_key, http_options={"base_url": base_url})

    # A client that is garbage-collected closes its connections.
    google, without_money = with_key(key), with_key(poor)
    model = "gemini-3.5-flash"
    tool = {"function_declarations": [{"name": "look", "parameters_json_schema": CITY}]}
    demand = {"function_calling_config": {"mode": "ANY", "allowed_function_names": ["look"]}}
    settings = [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]
    called = google.models.generate_content(model=model, contents=HELLO, config={"tools": [tool], "tool_config": demand})
    plain = google.models.generate_content(model=model, contents=HELLO, config={"safety_settings": settings})
    return {
        "plain": plain.text,
        "streamed": "".join(one.text or "" for one in google.models.generate_content_stream(model=model, contents=HELLO)),
        "tool": called.function_calls[0].name,
        "error": raised(lambda: google.models.generate_content(model="nothing", contents=HELLO)),
        "cap": raised(lambda: without_money.models.generate_content(model=model, contents=HELLO)),
    }


def instructor():
    import instructor as library
    from openai import OpenAI
    from pydantic import BaseModel

    class Person(BaseModel):
        name: str

    def create(api_key, model=MODEL):
        wrapped = library.from_openai(OpenAI(base_url=f"{base_url}/v1", api_key=api_key, max_retries=0))
        return wrapped.chat.completions.create(
            model=model, response_model=Person, max_retries=0, messages=[{"role": "user", "content": HELLO}]
        )

    wrapped = library.from_openai(OpenAI(base_url=f"{base_url}/v1", api_key=key, max_retries=0))
    pieces = wrapped.chat.completions.create_partial(
        model=MODEL, response_model=Person, messages=[{"role": "user", "content": HELLO}]
    )
    return {
        "plain": create(key).name,
        "streamed": list(pieces)[-1].name,
        "tool": "look",  # Its answers are calls of a tool.
        "error": raised(lambda: create(key, "nothing")),
        "cap": raised(lambda: create(poor)),
    }


def openai_agents():
    from agents import Agent, OpenAIProvider, RunConfig, Runner, function_tool

    def run(api_key, model=MODEL, **more):
        config = RunConfig(model_provider=OpenAIProvider(api_key=api_key, base_url=f"{base_url}/v1"), tracing_disabled=True)
        return Runner.run_sync(Agent(name="Assistant", model=model, **more), HELLO, run_config=config).final_output

    async def streamed():
        config = RunConfig(model_provider=OpenAIProvider(api_key=key, base_url=f"{base_url}/v1"), tracing_disabled=True)
        result = Runner.run_streamed(Agent(name="Assistant", model=MODEL), HELLO, run_config=config)
        async for _ in result.stream_events():
            pass
        return result.final_output

    from agents import ModelSettings

    run(key, tools=[function_tool(look)], model_settings=ModelSettings(tool_choice="required"))
    return {
        "plain": run(key),
        "streamed": asyncio.run(streamed()),
        "tool": "look" if asked else None,
        "error": raised(lambda: run(key, "nothing")),
        "cap": raised(lambda: run(poor)),
    }


def llm():
    import tempfile

    folder = os.environ["LLM_USER_PATH"] = tempfile.mkdtemp()
    fields = f"  api_base: {base_url}/v1\n  api_key_name: tallygate\n  supports_tools: true\n"
    with open(os.path.join(folder, "extra-openai-models.yaml"), "w") as file:
        file.writelines(f"- model_id: here/{name}\n  model_name: {name}\n{fields}" for name in (MODEL, "nothing"))
    import llm as library

    def prompt(api_key, name=MODEL, **more):
        return library.get_model(f"here/{name}").prompt(HELLO, key=api_key, **more).text()

    library.get_model(f"here/{MODEL}").chain(HELLO, key=key, tools=[look]).text()
    return {
        "plain": prompt(key, stream=False),
        "streamed": prompt(key, stream=True),
        "tool": "look" if asked else None,
        "error": raised(lambda: prompt(key, "nothing")),
        "cap": raised(lambda: prompt(poor)),
    }


def pydantic_ai():
    from pydantic_ai import Agent
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.anthropic import AnthropicProvider
    from pydantic_ai.providers.google import GoogleProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    def openai(api_key):
        return OpenAIProvider(base_url=f"{base_url}/v1", api_key=api_key)

    surfaces = {
        "chat": lambda api_key, name=MODEL: OpenAIChatModel(name, provider=openai(api_key)),
        "responses": lambda api_key, name=MODEL: OpenAIResponsesModel(name, provider=openai(api_key)),
        "messages": lambda api_key, name="claude-sonnet-4-6": AnthropicModel(
            name, provider=AnthropicProvider(base_url=base_url, api_key=api_key)
        ),
        "google": lambda api_key, name="gemini-3.5-flash": GoogleModel(
            name, provider=GoogleProvider(base_url=base_url, api_key=api_key)
        ),
    }

    def run(model, **more):
        return Agent(model, **more).run_sync(HELLO).output

    async def streamed(model):
        async with Agent(model).run_stream(HELLO) as result:
            return "".join([text async for text in result.stream_text(delta=True)])

    each = list(surfaces.values())
    for model in each:
        run(model(key), tools=[look])
    return {
        "plain": " | ".join(run(model(key)) for model in each),
        "streamed": " | ".join(asyncio.run(streamed(model(key))) for model in each),
        "tool": "look" if len(asked) == len(each) else asked,
        "error": same(raised(lambda: run(model(key, "nothing"))) for model in each),
        "cap": same((raised(lambda: run(model(poor))) for model in each), of=1),
    }


def llama_index():
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.llms.openai_like import OpenAILike

    def model(api_key, name=MODEL):
        kind = {"is_chat_model": True, "is_function_calling_model": True, "context_window": 128000}
        return OpenAILike(model=name, api_base=f"{base_url}/v1", api_key=api_key, max_retries=0, **kind)

    async def agent():
        return await FunctionAgent(tools=[look], llm=model(key)).run(HELLO)

    asyncio.run(agent())
    return {
        "plain": str(model(key).complete(HELLO)),
        "streamed": "".join(piece.delta or "" for piece in model(key).stream_complete(HELLO)),
        "tool": "look" if asked else None,
        "error": raised(lambda: model(key, "nothing").complete(HELLO)),
        "cap": raised(lambda: model(poor).complete(HELLO)),
    }


print(json.dumps(globals()[client]()))
