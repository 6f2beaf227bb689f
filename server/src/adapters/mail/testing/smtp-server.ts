import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

interface Behaviour {
  /** What the server says to a recipient: an SMTP status, 250 for yes. */
  recipient?(address: string): number | Promise<number>;
  /** What it says once it has the whole mail. */
  data?(): number;
  password?: string;
  /** Told of every recipient of a mail that was taken. Then the mails themselves are not kept. */
  accepted?(address: string): void;
}

/** A real SMTP server on a port of its own, that keeps what it is given. */
export async function startSmtpServer(behaviour: Behaviour = {}) {
  const inbox: Email[] = [];
  const returnPaths: string[] = [];
  const refusal = (status: number) => Object.assign(new Error('no'), { responseCode: status });
  const server = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    authOptional: behaviour.password === undefined,
    allowInsecureAuth: true,
    onAuth: ({ password }, _session, done) =>
      password === behaviour.password ? done(null, { user: 'x' }) : done(Object.assign(new Error('no'), { responseCode: 535 })),
    onRcptTo({ address }, _session, done) {
      void Promise.resolve(behaviour.recipient?.(address) ?? 250).then((status) => (status === 250 ? done() : done(refusal(status))));
    },
    onData(stream, { envelope }, done) {
      void buffer(stream).then(async (bytes) => {
        const status = behaviour.data?.() ?? 250;
        if (status !== 250) return done(refusal(status));
        if (envelope.mailFrom) returnPaths.push(envelope.mailFrom.address);
        if (behaviour.accepted) for (const { address } of envelope.rcptTo) behaviour.accepted(address);
        else inbox.push(await PostalMime.parse(bytes));
        return done();
        // A client that is gone in the middle of a mail has not sent it.
      }, done);
    },
  });
  server.on('error', () => {});
  const listening = server.listen(0, '127.0.0.1');
  if (!listening.listening) await once(listening, 'listening');
  const address = listening.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    port,
    url: `smtp://127.0.0.1:${port}`,
    inbox,
    /** Of the mails that were taken, in their order. */
    returnPaths,
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}
