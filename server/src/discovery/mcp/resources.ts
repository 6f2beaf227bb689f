import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { DiscoveryDocuments } from '../documents.ts';
import type { Guide } from '../guides.ts';
import type { CallGateway } from './gateway-call.ts';

interface ResourcesDeps {
  readonly documents: DiscoveryDocuments;
  readonly guides: () => readonly Guide[];
}

interface Listed {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
}

interface Content {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
}

/** What can be read without calling a tool: the documentation, the models with their prices, and receipts. */
export interface Resources {
  list(): Listed[];
  templates(): { uriTemplate: string; name: string; title: string; description: string; mimeType: string }[];
  /** @throws ResourceNotFoundError, and ProtocolError with the problem's code and detail where the API refuses */
  read(uri: string, gateway: CallGateway, signal: AbortSignal): Promise<Content>;
}

const MARKDOWN = 'text/markdown';
const JSON_TYPE = 'application/json';

const MODELS = {
  uri: 'tallygate://models',
  name: 'models',
  title: 'Models and prices',
  description: 'The catalogue: what each model can do and what it costs.',
  mimeType: JSON_TYPE,
};
const AGENTS = {
  uri: 'tallygate://agents',
  name: 'agents',
  title: 'Tallygate for agents',
  description: 'How to call, what it costs, which errors to repeat and which not.',
  mimeType: MARKDOWN,
};

const TEMPLATES = [
  {
    uriTemplate: 'tallygate://models/{model}',
    name: 'model',
    title: 'A model and its prices',
    description: 'One model of the catalogue.',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'tallygate://receipts/{receipt_id}',
    name: 'receipt',
    title: 'A receipt',
    description: 'The signed receipt of a request, by the receipt_id of a tool’s answer.',
    mimeType: JSON_TYPE,
  },
  {
    uriTemplate: 'tallygate://docs/{section}/{guide}',
    name: 'guide',
    title: 'A guide',
    description: 'One page of the documentation, of start, concepts or guides.',
    mimeType: MARKDOWN,
  },
];

/** The operations of the API behind resources that it answers for. */
const BEHIND: readonly (readonly [uri: RegExp, path: string])[] = [
  [/^tallygate:\/\/models$/, '/v1/models'],
  [/^tallygate:\/\/models\/([^/]+)$/, '/v1/models/'],
  [/^tallygate:\/\/receipts\/([^/]+)$/, '/v1/receipts/'],
];

const Refusal = z.object({ code: z.string(), detail: z.string() });

export function createResources({ documents, guides }: ResourcesDeps): Resources {
  const documentAt = (path: string) => documents.read(path)?.body;
  return {
    list: () => [
      MODELS,
      AGENTS,
      ...guides().map(({ path, title, summary: description }) => ({
        uri: `tallygate://docs/${path}`,
        ...{ name: path, title, description, mimeType: MARKDOWN },
      })),
    ],
    templates: () => TEMPLATES,
    async read(uri, gateway, signal) {
      const guide = /^tallygate:\/\/docs\/([a-z]+\/[a-z0-9-]+)$/.exec(uri)?.[1];
      const text = uri === AGENTS.uri ? documentAt('/agents.md') : guide !== undefined && documentAt(`/docs/${guide}.md`);
      if (text) return { uri, mimeType: MARKDOWN, text };
      for (const [pattern, path] of BEHIND) {
        const match = pattern.exec(uri);
        if (match) return { uri, mimeType: JSON_TYPE, text: await read(uri, `${path}${segment(match[1] ?? '')}`, { gateway, signal }) };
      }
      throw new ResourceNotFoundError(uri.slice(0, 200));
    },
  };
}

/** Any text that a client writes there names one ID and nothing else. */
const segment = (text: string): string => (/^\.{0,2}$/.test(text) || !text.isWellFormed() ? '' : encodeURIComponent(decoded(text)));

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function read(uri: string, path: string, { gateway, signal }: { gateway: CallGateway; signal: AbortSignal }): Promise<string> {
  const { status, body } = await gateway({ method: 'GET', path, headers: {} }, signal);
  const text = body.toString('utf8');
  if (status === 200) return text;
  if (status === 400 || status === 404 || status === 422) throw new ResourceNotFoundError(uri.slice(0, 200));
  const { code, detail } = Refusal.parse(JSON.parse(text));
  throw new ProtocolError(ProtocolErrorCode.InvalidRequest, `${code} (${status}): ${detail}`, { code, status });
}
