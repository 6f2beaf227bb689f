import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

/** Whether there is an OpenSSL here that makes time stamps. */
export const hasOpenssl = spawnSync('openssl', ['ts', '-help']).status === 0;

/** A real time-stamping authority (RFC 3161) on loopback: OpenSSL's. */
export interface TimeStampingAuthority {
  readonly url: string;
  /** The certificate that its own is issued by, PEM. */
  readonly ca: string;
  /** A token for a text, as `openssl ts` asks for it and takes it out of the answer. */
  stamp(text: string): Promise<Buffer>;
  /** The next answers are these bytes in the place of its own. */
  answerWith(bytes: Uint8Array | undefined): void;
  close(): Promise<void>;
}

const CONFIG = `
[ tsa ]
default_tsa = authority
[ authority ]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ess_cert_id_alg = sha256
[ req ]
distinguished_name = name
[ name ]
[ ca ]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
[ stamping ]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
`;
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

export async function startTimeStampingAuthority(): Promise<TimeStampingAuthority> {
  const folder = mkdtempSync(join(tmpdir(), 'tallygate-tsa-'));
  const openssl = opensslIn(folder);
  certify(folder, openssl);
  let instead: Uint8Array | undefined;
  const server = createServer((message, response) => {
    void buffer(message).then((query) => {
      const reply = instead ?? replyTo(query, folder, openssl);
      response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(reply);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/tsr`;
  return {
    url,
    ca: readFileSync(join(folder, 'ca.pem'), 'utf8'),
    stamp: (text) => stamp(text, { url, folder, openssl }),
    answerWith: (bytes) => {
      instead = bytes;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Openssl = (...args: readonly string[]) => Buffer;

const opensslIn =
  (cwd: string): Openssl =>
  (...args) =>
    execFileSync('openssl', [...args], { cwd, stdio: 'pipe' });

/** A certificate for time stamps, and the one that it is issued by. */
function certify(folder: string, openssl: Openssl): void {
  writeFileSync(join(folder, 'config'), CONFIG);
  writeFileSync(join(folder, 'serial'), '01\n');
  const configured = ['-config', 'config'];
  openssl('req', '-x509', ...NEW_KEY, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=CA', ...configured, '-extensions', 'ca');
  openssl('req', ...NEW_KEY, '-keyout', 'tsa.key', '-out', 'tsa.csr', '-subj', '/CN=TSA', ...configured);
  const issuer = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
  openssl('x509', '-req', '-in', 'tsa.csr', ...issuer, '-extfile', 'config', '-extensions', 'stamping', '-out', 'tsa.pem');
}

function replyTo(query: Buffer, folder: string, openssl: Openssl): Buffer {
  writeFileSync(join(folder, 'query'), query);
  const signer = ['-signer', 'tsa.pem', '-inkey', 'tsa.key', '-chain', 'ca.pem', '-config', 'config'];
  return openssl('ts', '-reply', '-queryfile', 'query', ...signer);
}

interface Asked {
  readonly url: string;
  readonly folder: string;
  readonly openssl: Openssl;
}

async function stamp(text: string, { url, folder, openssl }: Asked): Promise<Buffer> {
  writeFileSync(join(folder, 'data'), text);
  openssl('ts', '-query', '-data', 'data', '-sha256', '-cert', '-out', 'own-query');
  const answer = await fetch(url, { method: 'POST', body: new Uint8Array(readFileSync(join(folder, 'own-query'))) });
  writeFileSync(join(folder, 'own-reply'), Buffer.from(await answer.arrayBuffer()));
  openssl('ts', '-reply', '-in', 'own-reply', '-token_out', '-out', 'token');
  return readFileSync(join(folder, 'token'));
}
