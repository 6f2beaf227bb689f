import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { contract } from '@tallygate/contract';
import { WebhookRefused } from '../../adapters/payment/port.ts';
import type { SandboxPages } from '../../adapters/payment/sandbox/pages.ts';
import type { Log } from '../../kernel/log.ts';
import { Problem } from '../../kernel/problem.ts';
import { pathnameOf } from './path-table.ts';
import { problemOf } from './problem-document.ts';
import { requestIdOf } from './request-id.ts';

interface PaymentApiDeps {
  /** Verifies and takes an event. */
  receive(rawBody: Buffer, signature: string | undefined): Promise<void>;
  /** Undefined where payments are not sandboxed. */
  readonly pages: SandboxPages | undefined;
  readonly log: Log;
  problemReply(
    problem: Problem,
    ids: { readonly requestId: string; readonly clientRequestId: null },
  ): { readonly status: number; readonly headers: OutgoingHttpHeaders; readonly body: string | Buffer };
}

const WEBHOOK_PATH = contract.paymentWebhooks.stripe.path;
const MOST_EVENT_BYTES = 1024 * 1024;
const MOST_FORM_BYTES = 1024;
const BODY_TIMEOUT_MS = 10_000;

/** What stands below the account API: webhooks, whose signature is over the bytes as they came, and the forms of the sandbox's pages. */
export function createPaymentApi({ receive, pages, log, problemReply }: PaymentApiDeps) {
  const webhook = async (req: IncomingMessage, res: ServerResponse, requestId: string): Promise<void> => {
    const body = await readRaw(req, MOST_EVENT_BYTES);
    const signature = req.headers['stripe-signature'];
    try {
      await receive(body, typeof signature === 'string' ? signature : undefined);
    } catch (failure) {
      if (!(failure instanceof WebhookRefused)) throw failure;
      throw new Problem('invalid_webhook', 'The event is not signed with the webhook secret of this server, or is too old.', {
        because: failure.message,
        cause: failure,
      });
    }
    res
      .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-request-id': requestId })
      .end('{"received":true}');
  };

  const page = async (req: IncomingMessage, res: ServerResponse, from: SandboxPages): Promise<void> => {
    const form = req.method === 'POST' ? (await readRaw(req, MOST_FORM_BYTES)).toString() : '';
    const { status, headers, body } = await from.serve(req.method ?? 'GET', pathnameOf(req.url ?? ''), form);
    res.writeHead(status, headers).end(req.method === 'HEAD' ? undefined : body);
  };

  return {
    handles: ({ method = '', url = '' }: IncomingMessage): boolean => {
      const pathname = pathnameOf(url);
      if (pathname === WEBHOOK_PATH) return method === 'POST';
      return ['GET', 'HEAD', 'POST'].includes(method) && pages?.handles(pathname) === true;
    },

    async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
      const requestId = requestIdOf(req.headers);
      try {
        if (pathnameOf(req.url ?? '') === WEBHOOK_PATH) await webhook(req, res, requestId);
        else if (pages) await page(req, res, pages);
      } catch (thrown) {
        const problem = problemOf(thrown);
        // Whatever it was, the provider tells the event again.
        if (problem.status >= 500) log.error({ requestId, err: thrown }, 'an event of the payment provider could not be taken');
        else log.info({ requestId, code: problem.code, because: problem.extras.because }, 'request refused');
        const { status, headers, body } = problemReply(problem, { requestId, clientRequestId: null });
        res.writeHead(status, headers).end(body);
      }
    },
  };
}

/** @throws Problem `payload_too_large`, `request_timeout` */
async function readRaw(req: IncomingMessage, mostBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(() => req.destroy(new Error('too slow')), BODY_TIMEOUT_MS);
  try {
    for await (const chunk of req) {
      size += chunk.length;
      if (size > mostBytes)
        throw new Problem('payload_too_large', `The body is larger than the ${mostBytes} bytes that this endpoint accepts.`);
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks);
}
