import type { ErrorCode } from '@tallygate/contract';
import { type Log, withoutRedaction } from '../../kernel/log.ts';
import type { Problem } from '../../kernel/problem.ts';
import { problemOf } from '../../kernel/problem-of.ts';
import type { Answer } from '../idempotency-seal.ts';
import type { Exchange } from './exchange.ts';
import { discardRest } from './incoming.ts';
import type { ProblemReply } from './problem-document.ts';
import { shownIdOf } from './request-ids.ts';

/** How the refusals of a route are written, where that is not a problem document and nothing else. */
export interface RefusalForm {
  /** @param document the problem as a problem document */
  reply?(problem: Problem, exchange: Exchange, document: Answer): Answer | Promise<Answer>;
}

interface RefusalsDeps {
  readonly log: Log;
  readonly problemReply: ProblemReply;
  /** Told the code of each, and the project of the key that asked; for metrics. */
  readonly onRefused?: (code: ErrorCode, projectId?: string) => void;
}

/** Everything that is refused is logged and answered here, whichever route it was for. */
export class Refusals {
  readonly #log: Log;
  readonly #refusalLog: Log;
  readonly #problemReply: ProblemReply;

  readonly #onRefused: (code: ErrorCode, projectId?: string) => void;

  constructor({ log, problemReply, onRefused = () => {} }: RefusalsDeps) {
    this.#log = log;
    this.#onRefused = onRefused;
    // It has nothing of the request but the path, since under attack there are many.
    this.#refusalLog = withoutRedaction(log);
    this.#problemReply = problemReply;
  }

  async refuse(thrown: unknown, exchange: Exchange, form: RefusalForm = {}): Promise<void> {
    const problem = problemOf(thrown);
    const { req, res } = exchange;
    discardRest(req);
    if (res.headersSent) {
      this.#report(problem, exchange);
      // A stream that can say an error has ended with it. Of any other answer that has begun only the cut connection shows the failure.
      if (!res.writableEnded) res.destroy();
      return;
    }
    const { status, headers, body } = await this.replyTo(problem, exchange, form);
    if (!res.destroyed) res.writeHead(status, { ...headers, 'content-length': body.length }).end(req.method === 'HEAD' ? undefined : body);
  }

  /** The answer to a refusal, which is logged by this. */
  replyTo(problem: Problem, exchange: Exchange, form: RefusalForm = {}): Answer | Promise<Answer> {
    this.#report(problem, exchange);
    // Headers that the route has set for an answer that failed. A cache needs `Vary` all the same.
    for (const name of exchange.res.getHeaderNames()) if (name !== 'vary') exchange.res.removeHeader(name);
    const document = this.#problemReply(problem, exchange);
    return form.reply ? form.reply(problem, exchange, document) : document;
  }

  #report({ code, status, extras, cause }: Problem, exchange: Exchange): void {
    const { grant } = exchange;
    this.#onRefused(code, grant && 'projectId' in grant ? grant.projectId : undefined);
    const facts = { requestId: shownIdOf(exchange), path: exchange.pathname.slice(0, 200), code, because: extras.because };
    // The cause of a refusal may quote the request (JSON.parse does): it is logged for our own failures only.
    if (status >= 500 && cause !== undefined) this.#log.error({ ...facts, err: cause }, 'request failed');
    else if (status >= 500) this.#refusalLog.error(facts, 'request failed');
    else this.#refusalLog.info(facts, 'request refused');
  }
}
