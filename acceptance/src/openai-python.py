"""The official Python SDK against a gateway: prints one JSON document of what it saw. Arguments: base URL, API key."""

import base64
import io
import json
import sys

import openai

MODEL = "gpt-4o-mini"
MESSAGES = [{"role": "user", "content": "Say hello."}]
client = openai.OpenAI(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)


def complete(**more):
    return client.chat.completions.create(**{"model": MODEL, "messages": MESSAGES, **more})


def error_of(call):
    try:
        call()
    except openai.APIStatusError as error:
        return [type(error).__name__, error.status_code, error.code]
    return None


def chats():
    plain = complete()
    chunks = list(complete(stream=True, stream_options={"include_usage": True}))
    tiny_run = {"X-Agent-Run-Id": "python", "X-Agent-Max-Budget": "0.0000001"}
    return {
        "plain": plain.choices[0].message.content,
        "cost": plain.usage.cost,
        "streamed": "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices),
        "streamed_cost": chunks[-1].usage.cost,
        "models": [model.id for model in client.models.list().data],
        "unknown_model": error_of(lambda: complete(model="gpt-0")),
        "out_of_range": error_of(lambda: complete(temperature=3)),
        "no_money": error_of(lambda: complete(extra_headers=tiny_run)),
    }


def stored_chats():
    # The sandbox answers the same request with the same completion.
    asked = [[{"role": "user", "content": f"Say {n}."}] for n in range(3)]
    made = [complete(messages=messages, store=True, metadata={"from": "python"}) for messages in asked]
    listed = list(client.chat.completions.list(metadata={"from": "python"}, limit=1))
    first = made[0].id
    messages = client.chat.completions.messages.list(first).data
    changed = client.chat.completions.update(first, metadata={"from": "elsewhere"})
    return {
        "listed": sorted(chat.id for chat in listed) == sorted(chat.id for chat in made),
        "messages": [[message.role, message.content] for message in messages],
        "metadata": changed.metadata,
        "deleted": client.chat.completions.delete(first).deleted,
        "gone": error_of(lambda: client.chat.completions.retrieve(first)),
    }


def responses():
    made = client.responses.create(model=MODEL, input="Say hello.")
    with client.responses.stream(model=MODEL, input="Say hello.") as stream:
        types = [event.type for event in stream]
        final = stream.get_final_response()
    chained = client.responses.create(model=MODEL, input="Go on.", previous_response_id=made.id)
    client.responses.delete(made.id)
    conversation = client.conversations.create()
    client.responses.create(model=MODEL, input="Say hello.", conversation=conversation.id)
    items = list(client.conversations.items.list(conversation.id, limit=1, order="asc"))
    return {
        "said": made.output_text == final.output_text,
        "ends": [types[0], types[-1]],
        "chained": chained.status,
        "counted": client.responses.input_tokens.count(model=MODEL, input="Say hello.").input_tokens > 2,
        "gone": error_of(lambda: client.responses.retrieve(made.id)),
        "items": [item.role for item in items],
    }


def modalities():
    vector = client.embeddings.create(model="text-embedding-3-small", input="alpha", dimensions=64).data[0].embedding
    image = client.images.generate(model="gpt-image-1", prompt="A ledger", quality="low", size="1024x1024").data[0]
    spoken = client.audio.speech.create(model="tts-1", voice="alloy", input="The ledger sums to zero.", response_format="wav").read()
    heard = client.audio.transcriptions.create(model="whisper-1", file=("a.wav", spoken))
    file = client.files.create(file=("a.txt", io.BytesIO(b"kept")), purpose="user_data")
    content = client.files.content(file.id).read()
    client.files.delete(file.id)
    return {
        "norm": round(sum(value * value for value in vector), 3),
        "dimensions": len(vector),
        "png": base64.b64decode(image.b64_json)[1:4].decode(),
        "heard": heard.text,
        "file": content.decode(),
        "flagged": [result.flagged for result in client.moderations.create(input=["a ledger", "kill them all"]).results],
    }


print(json.dumps({"chats": chats(), "stored_chats": stored_chats(), "responses": responses(), "modalities": modalities()}))
