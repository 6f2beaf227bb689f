import { type contract, inferenceHeaders } from '@tallygate/contract';
import type { Handlers } from '../../../http/index.ts';
import { Problem } from '../../../kernel/problem.ts';
import { type Catalog, modelNotFound } from '../../../money/catalog/index.ts';
import { type ClientSecrets, shownSession } from './client-secrets.ts';
import { REALTIME } from './events.ts';

interface SecretDeps {
  readonly catalog: Catalog;
  readonly secrets: ClientSecrets;
}

const HEADERS = Object.keys(inferenceHeaders);

export const clientSecretRoutes = ({ catalog, secrets }: SecretDeps): Handlers<typeof contract.realtime> => ({
  createClientSecret: async ({ body, principal, headers }) => {
    if (principal.kind !== 'key') throw new Problem('invalid_credentials', 'A client secret is of an API key: make it with one.');
    const model = body.session?.model;
    if (model !== undefined && !catalog.find(model)?.endpoints.has(REALTIME)) throw modelNotFound(model, catalog, 'session.model');
    const { keyId, accountId } = principal;
    const { value, told } = secrets.make(body, { keyId, accountId, headers: runHeadersOf(headers) });
    return { status: 200, body: { value, expires_at: told.expiresAt / 1_000, session: shownSession(told.session) } };
  },
});

/** What its sessions belong to: a browser can send none of these with a WebSocket. */
const runHeadersOf = (headers: object): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name, value]) => HEADERS.includes(name) && typeof value === 'string'));
