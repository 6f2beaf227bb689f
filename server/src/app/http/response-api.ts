import type { IncomingMessage, ServerResponse } from 'node:http';
import { contract } from '@tallygate/contract';
import type { FollowResponse } from '../../inference/index.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { CORS_HEADERS } from './cors.ts';
import { type Authenticator, authorise, type Grant } from './credentials.ts';
import { metadataOf } from './endpoint.ts';
import { pathnameOf } from './path-table.ts';
import { problemOf, toProblemDocument } from './problem-document.ts';
import { requestIdOf } from './request-id.ts';
import { validationProblem } from './validation.ts';

interface ResponseApiDeps {
  readonly authenticator: Authenticator;
  readonly follow: FollowResponse;
  readonly publicUrl: () => string;
  readonly log: Log;
}

const ROUTE = contract.storedResponses.get;
const METADATA = metadataOf(ROUTE);
const PATH = /^\/v1\/responses\/([^/]+)$/;

/**
 * `GET /v1/responses/{id}?stream=true`: the events of a kept response. It stands on node:http, beside the account API, which answers
 * everything else of it: an answer there is whole.
 */
export function createResponseApi(deps: ResponseApiDeps) {
  return {
    handles: (req: IncomingMessage): boolean => req.method === 'GET' && isStream(req),

    async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const requestId = requestIdOf(req.headers);
      for (const [name, value] of Object.entries({ ...CORS_HEADERS, 'x-request-id': requestId })) res.setHeader(name, value);
      try {
        await serve(req, res, deps);
      } catch (thrown) {
        refuse(thrown, { res, requestId }, deps);
      }
    },
  };
}

function isStream({ url = '' }: IncomingMessage): boolean {
  return url.startsWith('/v1/responses/') && PATH.test(pathnameOf(url)) && queryOf(url).get('stream') === 'true';
}

async function serve(req: IncomingMessage, res: ServerResponse, { authenticator, follow }: ResponseApiDeps): Promise<void> {
  const grant: Grant = await authenticator.authenticate(req);
  if ('limits' in grant && grant.limits?.signing?.isRequired)
    throw new Problem('signature_required', 'This API key only signs inference requests: use another key or a session.');
  authorise(METADATA, grant.principal);
  const query = queryOf(req.url ?? '');
  const parsed = ROUTE.query.safeParse({ ...Object.fromEntries(query), 'include[]': query.getAll('include[]') });
  if (!parsed.success) throw validationProblem({ query: parsed.error });
  const hangUp = new AbortController();
  res.once('close', () => hangUp.abort());
  const id = decoded(PATH.exec(pathnameOf(req.url ?? ''))?.[1] ?? '');
  await follow(res, { principal: grant.principal, id, query: parsed.data, signal: hangUp.signal });
}

const queryOf = (url: string): URLSearchParams => new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?') + 1) : '');

/** What cannot be decoded is nobody's id. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return '';
  }
}

function refuse(
  thrown: unknown,
  { res, requestId }: { res: ServerResponse; requestId: string },
  { log, publicUrl }: ResponseApiDeps,
): void {
  const problem = problemOf(thrown);
  const { code, status: known, extras, cause } = problem;
  const entry = { requestId, code, because: extras.because };
  if (known >= 500) log.error({ ...entry, err: cause }, 'request failed');
  else log.info(entry, 'request refused');
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const { status, headers, body } = toProblemDocument(problem, { requestId, publicUrl: publicUrl() });
  res.writeHead(status, headers).end(JSON.stringify(body));
}
