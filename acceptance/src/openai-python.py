"""The official Python SDK against a gateway: prints one JSON document of what it saw. Arguments: base URL, API key."""

import json
import sys

import openai

MODEL = "gpt-4o-mini"
MESSAGES = [{"role": "user", "content": "Say hello."}]
client = openai.OpenAI(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)


def complete(**more):
    return client.chat.completions.create(**{"model": MODEL, "messages": MESSAGES, **more})


def error_of(**more):
    try:
        complete(**more)
    except openai.APIStatusError as error:
        return [type(error).__name__, error.status_code, error.code]
    return None


plain = complete()
chunks = list(complete(stream=True, stream_options={"include_usage": True}))
tiny_run = {"X-Agent-Run-Id": "python", "X-Agent-Max-Budget": "0.0000001"}
print(
    json.dumps(
        {
            "plain": plain.choices[0].message.content,
            "cost": plain.usage.cost,
            "streamed": "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices),
            "streamed_cost": chunks[-1].usage.cost,
            "models": [model.id for model in client.models.list().data],
            "unknown_model": error_of(model="gpt-0"),
            "out_of_range": error_of(temperature=3),
            "no_money": error_of(extra_headers=tiny_run),
        }
    )
)
