import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Problem } from '../../kernel/problem.ts';

/**
 * Who may read the metrics: a client that sends the token. An address proves nothing: behind a proxy of this machine the whole world comes from the
 * loopback interface.
 */
export function createRequireMetricsReader(metricsToken: string): (req: Pick<IncomingMessage, 'headers'>) => void {
  const expected = digest(`Bearer ${metricsToken}`);
  return ({ headers: { authorization } }) => {
    // Digests have one length, so that comparing them takes one time.
    if (timingSafeEqual(digest(authorization ?? ''), expected)) return;
    const code = authorization === undefined ? 'missing_credentials' : 'invalid_credentials';
    throw new Problem(
      code,
      'Send the METRICS_TOKEN of this server as Authorization: Bearer …: a generated one is in DATA_DIR/bootstrap.json.',
    );
  };
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
