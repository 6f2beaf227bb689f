import { contract } from '@tallygate/contract';
import { type WebhookFault, WebhookRefused } from '../../adapters/payment/port.ts';
import type { SandboxPages } from '../../adapters/payment/sandbox/pages.ts';
import { Problem } from '../../kernel/problem.ts';
import { type BodyLimits, readBody } from './body.ts';
import { metadataOf } from './endpoint.ts';
import type { Exchange } from './exchange.ts';
import { type ServedRoute, unknownPath } from './router.ts';
import { transferRoute } from './transfer.ts';

interface PaymentApiDeps {
  /** Verifies and takes an event. */
  receive(rawBody: Buffer, signature: string | undefined): Promise<void>;
  /** Without one nothing that arrives here can be proven. */
  readonly hasWebhookSecret: boolean;
  /** Undefined where payments are not sandboxed. */
  readonly pages: SandboxPages | undefined;
}

const WEBHOOK = contract.paymentWebhooks.stripe;
const EVENT: BodyLimits = { maxBytes: 1024 * 1024, timeoutMs: 10_000 };
const FORM: BodyLimits = { maxBytes: 1024, timeoutMs: 10_000 };
const WHY_REFUSED: Readonly<Record<WebhookFault, string>> = {
  unsigned: 'The event is not signed with the webhook secret of this server.',
  stale: 'The event is signed, but more than five minutes from now: compare the clock of this server.',
  other_mode: 'The event is of the other mode of Stripe than the secret key of this server: live with a test key, or the other way round.',
  malformed:
    'The event is signed with the webhook secret of this server, but does not have the form of a Stripe event: compare the API version of the endpoint.',
};

/** Webhooks, whose signature is over the bytes as they came, and the pages of the sandbox, whose forms are no JSON. */
export function paymentRoutes({ receive, hasWebhookSecret, pages }: PaymentApiDeps): ServedRoute[] {
  const webhook = transferRoute(WEBHOOK, async ({ req, res }) => {
    if (!hasWebhookSecret)
      throw new Problem(
        'payments_unavailable',
        'This server has no webhook secret: set STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET, and start it again.',
      );
    // After any refusal, the provider sends the event again.
    const body = await readBody(req, EVENT);
    const signature = req.headers['stripe-signature'];
    try {
      await receive(body, typeof signature === 'string' ? signature : undefined);
    } catch (failure) {
      if (!(failure instanceof WebhookRefused)) throw failure;
      throw new Problem('invalid_webhook', WHY_REFUSED[failure.fault], { because: failure.message, cause: failure });
    }
    res.writeHead(200, { 'content-type': 'application/json' }).end('{"received":true}');
  });
  const page = async ({ req, res, pathname }: Exchange): Promise<void> => {
    if (!pages?.handles(pathname)) throw unknownPath();
    const form = req.method === 'POST' ? (await readBody(req, FORM)).toString() : '';
    const { status, headers, body } = await pages.serve(req.method ?? 'GET', pathname, form);
    res.writeHead(status, headers).end(req.method === 'HEAD' ? undefined : body);
  };
  return [
    // The provider may add to the address that it was given.
    { ...webhook, operation: { metadata: metadataOf(WEBHOOK), query: 'any' } },
    ...(['GET', 'POST'] as const).map((method): ServedRoute => ({ method, path: '/sandbox/payments/*', kind: 'site', answer: page })),
  ];
}
