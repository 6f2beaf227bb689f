import { createPrivateKey, createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { fromVerifierKey, type NoteKey, toVerifierKey } from '@tallygate/receipts';
import { KeptStates } from './kept-states.ts';
import { Witness } from './witness.ts';

export interface WitnessSettings {
  /** The name it signs with: unique, such as a domain. */
  readonly name: string;
  /** 32 bytes, of an Ed25519 key that is used for nothing else. */
  readonly seed: Uint8Array;
  /** Verifier keys of the logs that it looks after. */
  readonly logs: readonly string[];
  /** Where it writes down what it has cosigned. */
  readonly folder: string;
  readonly host?: string;
  readonly port?: number;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

export interface RunningWitness {
  readonly url: string;
  /** The public key to verify its cosignatures. */
  readonly verifierKey: string;
  close(): Promise<void>;
}

const MOST_BYTES = 64 * 1024;
/** RFC 8410: the fixed ASN.1 head of a PKCS #8 Ed25519 private key, before its 32 bytes of seed. */
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A witness as a server: `POST /add-checkpoint`. @throws for a malformed key of a log */
export async function startWitness(settings: WitnessSettings): Promise<RunningWitness> {
  const { name, seed, logs, folder, host = '127.0.0.1', port = 0, now = Date.now } = settings;
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  const key: NoteKey = { name, kind: 'cosignature', publicKey: Buffer.from(x, 'base64url') };
  const witness = new Witness({ key, privateKey, logs: logs.map(logKeyOf), states: new KeptStates(folder), now });

  const server = createServer((request, response) => {
    if (request.method !== 'POST' || request.url !== '/add-checkpoint') {
      response.writeHead(404).end();
      return;
    }
    void read(request)
      .then((body) => {
        if (body === undefined) return response.writeHead(413).end();
        const { status, contentType = 'text/plain', body: answer } = witness.addCheckpoint(body);
        return response.writeHead(status, { 'content-type': contentType }).end(answer);
      })
      // The sender or the disk has failed: an unsaved state is not signed.
      .catch(() => response.destroy());
  }).listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address ? address.port : port;
  return {
    url: `http://${host}:${bound}`,
    verifierKey: toVerifierKey(key),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function logKeyOf(text: string): NoteKey {
  const key = fromVerifierKey(text);
  if (key?.kind !== 'signature') throw new Error(`This is no verifier key of a log: ${text}`);
  return key;
}

/** Undefined for more than a request may have. */
async function read(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
