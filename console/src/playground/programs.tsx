import { useState } from 'react';
import { Panel } from '../ui/parts.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { bodyOf, type Question } from './call.ts';

/** In place of the picture, which is too long to be read. */
const PICTURE = 'data:image/png;base64,…';
const quoted = (text: string): string => text.replaceAll("'", "'\\''");
/** JSON as Python writes it. */
const python = (json: string): string => json.replaceAll(/\b(true|false|null)\b(?=[,\]}])/g, (word) => PYTHON_WORDS[word] ?? word);
const PYTHON_WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

/** The same call for a program. The key is left out: it belongs in the environment. */
function programsOf(question: Question): Readonly<Record<string, string>> {
  const { model, ...rest } = bodyOf({ ...question, ...(question.picture !== undefined && { picture: PICTURE }) });
  const base = `${location.origin}/v1`;
  const [path, method] = question.isImage ? ['images/generations', 'images.generate'] : ['chat/completions', 'chat.completions.create'];
  const { provider, ...known } = rest as typeof rest & { provider?: unknown };
  const fields = Object.entries(known).map(([name, value]) => [name, JSON.stringify(value)] as const);
  const extra = JSON.stringify({ provider });
  const named = [['model', JSON.stringify(model)] as const, ...fields];
  return {
    curl: `curl ${base}/${path} \\\n  -H "Authorization: Bearer $OPENAI_API_KEY" -H 'Content-Type: application/json' \\\n  -d '${quoted(JSON.stringify({ model, ...rest }))}'`,
    Python: `from openai import OpenAI\n\nclient = OpenAI(base_url="${base}")\nanswer = client.${method}(\n${named.map(([name, json]) => `    ${name}=${python(json)},\n`).join('')}${provider ? `    extra_body=${python(extra)},\n` : ''})\nprint(answer)`,
    TypeScript: `import OpenAI from 'openai';\n\nconst client = new OpenAI({ baseURL: '${base}' });\nconst answer = await client.${method}({\n${named.map(([name, json]) => `  ${name}: ${json},\n`).join('')}${provider ? `  // @ts-expect-error: the gateway's own field\n  provider: ${JSON.stringify(provider)},\n` : ''}});\nconsole.log(answer);`,
  };
}

export function Programs({ question }: { question: Question }) {
  const programs = programsOf(question);
  const [shown, setShown] = useState('curl');
  return (
    <Panel title="The same call">
      <Tabs label="Language" tabs={Object.keys(programs).map((name) => [name, name] as const)} shown={shown} onShow={setShown} />
      <pre className="note-text">{programs[shown]}</pre>
    </Panel>
  );
}
