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


print(json.dumps(globals()[client]()))
