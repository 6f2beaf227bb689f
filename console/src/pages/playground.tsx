import type { Model } from '@tallygate/sdk';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, usd } from '../format.ts';
import { freshKey } from '../fresh-key.ts';
import { ask, type Question, type Turn, toolsOf } from '../playground/call.ts';
import { Programs } from '../playground/programs.tsx';
import { Field, Form, given } from '../ui/dialog.tsx';
import { PageHead, Panel, RequestLink } from '../ui/parts.tsx';

/** An answer, and whether nothing is billed for it. */
interface Shown extends Turn {
  readonly isTest: boolean;
}

const MODELS = queryOptions({ queryKey: ['models', true], queryFn: () => tallygate.models.list({ all: true }) });
/** Chats are bounded by the body that the gateway takes; a picture is a third longer in it. */
const MOST_PICTURE_BYTES = 5 * 1024 * 1024;

function Answer({ turn }: { turn: Shown }) {
  return (
    <Panel title="Answer">
      <p className="answer" aria-live="polite">
        {turn.text}
      </p>
      {turn.pictures.map((source) => (
        <img key={source} src={source} alt="What the model made" className="picture" />
      ))}
      {turn.calls.map((call) => (
        <pre key={`${call.name} ${call.arguments}`} className="note-text">
          {`${call.name}(${call.arguments})`}
        </pre>
      ))}
      <p className="quiet">
        {turn.maxTokens !== undefined && `The price of at most ${count(turn.maxTokens)} output tokens was held before it ran. `}
        {turn.costUsd === undefined
          ? 'It is being made…'
          : `It cost ${usd(turn.costUsd)}${turn.isTest ? ', of which nothing is billed: the key is a test key' : ''}.`}
      </p>
      {turn.costUsd !== undefined && turn.requestId !== undefined && (
        <p>
          Its trace and receipt: <RequestLink id={turn.requestId} />
        </p>
      )}
    </Panel>
  );
}

/** @returns the file as a data URL; undefined where none was chosen */
async function pictureOf(fields: FormData): Promise<string | undefined> {
  const file = fields.get('picture');
  if (!(file instanceof File) || file.size === 0) return undefined;
  if (file.size > MOST_PICTURE_BYTES) throw new Error('The picture is larger than 5 MB: choose a smaller one.');
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error('The picture could not be read.'));
    reader.readAsDataURL(file);
  });
}

const draws = (models: readonly Model[], model: string): boolean => models.some(({ id, kind }) => id === model && kind === 'image');

function Extras({ isImage, provider }: { isImage: boolean; provider: string | undefined }) {
  if (isImage) return null;
  return (
    <details open={provider !== undefined}>
      <summary>A picture, tools, one provider</summary>
      <div className="field">
        <label htmlFor="picture">Picture to send along</label>
        <input id="picture" name="picture" type="file" accept="image/png,image/jpeg,image/webp,image/gif" />
      </div>
      <div className="field">
        <label htmlFor="tools">Tools, as JSON</label>
        <textarea id="tools" name="tools" rows={4} spellCheck={false} />
      </div>
      <Field
        name="provider"
        label="Ask only this provider"
        {...(provider !== undefined && { defaultValue: provider })}
        hint="By its name, such as openai. Left empty, the gateway chooses."
      />
    </details>
  );
}

function KeyField() {
  return (
    <>
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
    </>
  );
}

export function Playground() {
  const [turn, setTurn] = useState<Shown>();
  const { model: wished = 'gpt-4o-mini', provider } = useSearch({ from: '/frame/playground' });
  const [model, setModel] = useState(wished);
  const client = useQueryClient();
  const models = useQuery(MODELS).data?.data ?? [];
  const isImage = draws(models, model);
  const [question, setQuestion] = useState<Question>({
    model,
    prompt: 'Say hello.',
    isImage: false,
    ...(provider !== undefined && { provider }),
  });
  const submit = async (fields: FormData): Promise<void> => {
    const picture = await pictureOf(fields);
    const tools = toolsOf(given(fields, 'tools'));
    const only = given(fields, 'provider');
    // Who is quick asks before the models are there.
    const { data: known } = await client.ensureQueryData(MODELS);
    const asked = {
      ...{ model, prompt: given(fields, 'prompt') ?? '', isImage: draws(known, model) },
      ...(picture !== undefined && { picture }),
      ...(tools && { tools }),
      ...(only !== undefined && { provider: only }),
    };
    setQuestion(asked);
    setTurn(undefined);
    const key = given(fields, 'key') ?? '';
    const isTest = key.startsWith('tg_test_');
    await ask(key, asked, (next) => setTurn({ ...next, isTest }));
  };
  return (
    <>
      <PageHead title="Playground">Ask a model as a program would: by an API key, under its caps, with a receipt.</PageHead>
      <Panel>
        <Form action="Ask" onSubmit={submit}>
          <KeyField />
          <div className="field">
            <label htmlFor="model">Model</label>
            <input id="model" name="model" list="models" required value={model} onChange={(event) => setModel(event.target.value)} />
          </div>
          <datalist id="models">
            {models
              .filter(({ kind }) => kind === 'chat' || kind === 'image')
              .map(({ id }) => (
                <option key={id} value={id} />
              ))}
          </datalist>
          <div className="field">
            <label htmlFor="prompt">{isImage ? 'What to draw' : 'Message'}</label>
            <textarea id="prompt" name="prompt" rows={4} defaultValue={question.prompt} required />
          </div>
          <Extras isImage={isImage} provider={provider} />
        </Form>
      </Panel>
      {turn && <Answer turn={turn} />}
      <Programs question={question} />
    </>
  );
}
