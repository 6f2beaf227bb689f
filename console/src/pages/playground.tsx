import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate, withKey } from '../client.ts';
import { usd } from '../format.ts';
import { freshKey } from '../fresh-key.ts';
import { Field, Form, given } from '../ui/dialog.tsx';
import { PageHead, Panel, RequestLink } from '../ui/parts.tsx';

interface Turn {
  readonly text: string;
  readonly costUsd?: string;
  readonly requestId?: string;
  readonly maxTokens?: number;
}

interface Asked {
  readonly key: string;
  readonly model: string;
  readonly prompt: string;
}

/** Asks for a stream, and shows what has come of it with every piece; the last shows the cost. */
async function ask({ key, model, prompt }: Asked, show: (turn: Turn) => void): Promise<void> {
  const { data, requestId, maxTokens } = await withKey(key)
    .chat.completions.create({
      model,
      messages: [{ role: 'user', content: prompt }],
      stream: true,
      stream_options: { include_usage: true },
    })
    .withResponse();
  let turn: Turn = { text: '', ...(requestId && { requestId }), ...(maxTokens !== undefined && { maxTokens }) };
  for await (const chunk of data) {
    const cost = chunk.usage?.cost;
    turn = {
      ...turn,
      text: turn.text + (chunk.choices[0]?.delta.content ?? ''),
      ...(cost !== undefined && { costUsd: cost.toFixed(9).replace(/0+$/, '') }),
    };
    show(turn);
  }
}

const quoted = (text: string): string => text.replaceAll("'", "'\\''");

/** The same call for a program. The key is left out: it belongs in the environment. */
function programOf({ model, prompt }: Omit<Asked, 'key'>): Readonly<Record<string, string>> {
  const messages = JSON.stringify([{ role: 'user', content: prompt }]);
  const base = `${location.origin}/v1`;
  return {
    curl: `curl ${base}/chat/completions \\\n  -H "Authorization: Bearer $OPENAI_API_KEY" -H 'Content-Type: application/json' \\\n  -d '${quoted(`{"model":${JSON.stringify(model)},"messages":${messages}}`)}'`,
    Python: `from openai import OpenAI\n\nclient = OpenAI(base_url="${base}")\nanswer = client.chat.completions.create(\n    model=${JSON.stringify(model)},\n    messages=${messages},\n)\nprint(answer.choices[0].message.content)`,
    TypeScript: `import OpenAI from 'openai';\n\nconst client = new OpenAI({ baseURL: '${base}' });\nconst answer = await client.chat.completions.create({\n  model: ${JSON.stringify(model)},\n  messages: ${messages},\n});\nconsole.log(answer.choices[0]?.message.content);`,
  };
}

function Programs({ model, prompt }: Omit<Asked, 'key'>) {
  const programs = programOf({ model, prompt });
  const [shown, setShown] = useState('curl');
  return (
    <Panel title="The same call">
      <div className="tabs">
        {Object.keys(programs).map((name) => (
          <button key={name} type="button" aria-pressed={name === shown} onClick={() => setShown(name)}>
            {name}
          </button>
        ))}
      </div>
      <pre className="note-text">{programs[shown]}</pre>
    </Panel>
  );
}

function Answer({ turn }: { turn: Turn }) {
  return (
    <Panel title="Answer">
      <p className="answer" aria-live="polite">
        {turn.text}
      </p>
      <p className="quiet">
        {turn.maxTokens !== undefined && `Held for at most ${turn.maxTokens} tokens out. `}
        {turn.costUsd === undefined ? 'It is being made…' : `It cost ${usd(turn.costUsd)}.`}
      </p>
      {turn.costUsd !== undefined && turn.requestId !== undefined && (
        <p>
          Its trace and receipt: <RequestLink id={turn.requestId} />
        </p>
      )}
    </Panel>
  );
}

export function Playground() {
  const [turn, setTurn] = useState<Turn>();
  const { model = 'gpt-4o-mini' } = useSearch({ from: '/frame/playground' });
  const [asked, setAsked] = useState({ model, prompt: 'Say hello.' });
  const models = useQuery({ queryKey: ['models', true], queryFn: () => tallygate.models.list({ all: true }) });
  const chats = models.data?.data.filter(({ kind }) => kind === 'chat') ?? [];
  const submit = async (fields: FormData): Promise<void> => {
    const now = { key: given(fields, 'key') ?? '', model: given(fields, 'model') ?? '', prompt: given(fields, 'prompt') ?? '' };
    setAsked(now);
    setTurn(undefined);
    await ask(now, setTurn);
  };
  return (
    <>
      <PageHead title="Playground">Ask a model as a program would: by an API key, under its caps, with a receipt.</PageHead>
      <Panel>
        <Form action="Ask" onSubmit={submit}>
          <Field
            name="key"
            label="API key"
            type="password"
            defaultValue={freshKey.get() ?? ''}
            isRequired
            autoComplete="off"
            hint="It stays in this page. A test key asks the sandbox, and nothing is billed."
          />
          <p className="hint">
            No key? <Link to="/keys">Create one</Link>: it is filled in here.
          </p>
          <Field name="model" label="Model" defaultValue={asked.model} isRequired list="chat-models" />
          <datalist id="chat-models">
            {chats.map(({ id }) => (
              <option key={id} value={id} />
            ))}
          </datalist>
          <div className="field">
            <label htmlFor="prompt">Message</label>
            <textarea id="prompt" name="prompt" rows={4} defaultValue={asked.prompt} required />
          </div>
        </Form>
      </Panel>
      {turn && <Answer turn={turn} />}
      <Programs {...asked} />
    </>
  );
}
