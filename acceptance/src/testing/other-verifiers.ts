import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { hasGo, hasPython } from '../../../packages/receipts/scripts/other-languages.ts';

const VERIFIERS = fileURLToPath(new URL('../../../packages/receipts/verifiers', import.meta.url));
const ENV = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod' };
const LANGUAGES = [
  { folder: 'python', run: ['python3', 'verify.py'], isThere: hasPython },
  { folder: 'go', run: ['go', 'run', '.'], isThere: hasGo },
] as const;

/** A verifier that was written from the specification alone, in another language. */
interface OtherVerifier {
  readonly language: string;
  /** Its language is not on this machine. */
  readonly isMissing: boolean;
  /** @param files paths: the keys, then a receipt, an export, or an invoice and the exports that it counts */
  verify(...files: readonly string[]): Promise<{ readonly isValid: boolean; readonly said: string }>;
}

/** In each language, also those that this machine does not have. Asynchronous: the gateway may run in this very process. */
export const otherVerifiers = (): OtherVerifier[] =>
  LANGUAGES.map(({ folder, run: [program, ...args], isThere }) => ({
    language: folder,
    isMissing: !isThere(),
    verify: (...files) =>
      new Promise((resolve) => {
        const options = { cwd: `${VERIFIERS}/${folder}`, env: ENV };
        execFile(program, [...args, ...files], options, (error, stdout, stderr) =>
          resolve({ isValid: error === null, said: `${stdout}${stderr}` }),
        );
      }),
  }));
