import type { KeyResponse, Project, UpdateKeyRequest } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { tallygate } from '../client.ts';
import { inputTime, timeIn } from '../format.ts';
import { useMe } from '../session.ts';
import { Choices } from '../ui/choices.tsx';
import { Field, given, Select } from '../ui/dialog.tsx';
import { TextArea } from '../ui/text-area.tsx';
import { scopesOf } from './scopes.ts';

const MOST_PROJECTS = 200;
const NEW_KEY = ['inference'] as const;

type Endpoint = NonNullable<KeyResponse['allowed_endpoints']>[number];
/** The others are Google's and OpenAI's names of the same things, and rarely told apart by a key. */
const ENDPOINTS: readonly Endpoint[] = [
  ...(['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/completions', '/v1/embeddings', '/v1/rerank'] as const),
  ...(['/v1beta/models:generateContent', '/v1beta/models:embedContent', '/v1/moderations', '/v1/images/generations'] as const),
  ...(['/v1/images/edits', '/v1/images/variations', '/v1/audio/speech', '/v1/audio/transcriptions', '/v1/audio/translations'] as const),
  ...(['/v1/realtime', '/v1/videos', '/v1/batches'] as const),
];

const RATES = [
  ['requests_per_minute', 'Requests a minute'],
  ['tokens_per_minute', 'Tokens a minute'],
  ['concurrency', 'Requests at the same time'],
] as const;

/** Words that a text area has, one a line or with commas between them. */
export const wordsIn = (text: string): string[] => [...new Set(text.split(/[\s,]+/).filter(Boolean))];

const listIn = (fields: FormData, name: string): string[] | null => {
  const words = wordsIn(given(fields, name) ?? '');
  return words.length === 0 ? null : words;
};

/** What the fields say of a key; all of it is replaced. */
export function keyIn(fields: FormData) {
  const endpoints = fields.getAll('endpoint') as Endpoint[];
  return {
    name: given(fields, 'name') ?? '',
    scopes: fields.getAll('scope') as KeyResponse['scopes'],
    expires_at: timeIn(given(fields, 'expires')),
    allowed_models: listIn(fields, 'models'),
    allowed_endpoints: endpoints.length === 0 ? null : endpoints,
    rate_limits: Object.fromEntries(
      RATES.map(([name]) => {
        const rate = given(fields, name);
        return [name, rate === undefined ? null : Number(rate)];
      }),
    ) as NonNullable<UpdateKeyRequest['rate_limits']>,
  };
}

/** The project of a key: `''` for none. */
function ProjectField({ chosen }: { chosen: string | null }) {
  const { data } = useQuery({ queryKey: ['projects'], queryFn: async () => tallygate.projects.list({ limit: MOST_PROJECTS }) });
  const isOffered = ({ project_id: id, archived_at: archived }: Project): boolean => archived === null || id === chosen;
  const projects = data?.data.filter(isOffered) ?? [];
  if (projects.length === 0) return null;
  return (
    <Select
      key={projects.length}
      name="project"
      label="Project"
      options={[['', 'none'], ...projects.map(({ project_id: id, name }) => [id, name] as const)]}
      defaultValue={chosen ?? ''}
    />
  );
}

/** What a key may do and until when, beside its cap. */
export function KeyFields({ apiKey }: { apiKey?: KeyResponse }) {
  const me = useMe();
  const scopes = apiKey?.scopes ?? NEW_KEY;
  const offered = [...new Set([...scopesOf(me), ...scopes])];
  return (
    <>
      <Choices name="scope" legend="What it may do" options={offered} chosen={scopes} />
      <TextArea
        name="models"
        label="Models"
        rows={3}
        defaultValue={apiKey?.allowed_models?.join('\n') ?? ''}
        hint="One a line; others are refused, also as fallbacks. Empty: all."
      />
      <Field
        name="expires"
        label="Expires"
        type="datetime-local"
        defaultValue={inputTime(apiKey?.expires_at ?? null)}
        hint="In your time zone. Empty: never."
      />
      {RATES.map(([name, label]) => (
        <Field
          key={name}
          name={name}
          label={label}
          inputMode="numeric"
          defaultValue={apiKey?.rate_limits[name]?.toString() ?? ''}
          placeholder="the plan’s"
        />
      ))}
      <Choices
        name="endpoint"
        legend="Only these endpoints. None chosen: all of them"
        options={ENDPOINTS}
        chosen={apiKey?.allowed_endpoints ?? []}
      />
      <ProjectField chosen={apiKey?.project_id ?? null} />
    </>
  );
}
