import type { UpstreamConnection, UpstreamFault, UpstreamOpening } from '../../port.ts';
import { closed, faultInsteadOfAnswer, parseFault, rejected } from '../faults.ts';
import { SandboxSocket } from './sandbox-socket.ts';

/** The connections to the sandbox that are open. */
export class SandboxConnections {
  readonly #nonce: () => string;
  readonly #open = new Set<SandboxSocket>();
  #isClosed = false;

  constructor(nonce: () => string) {
    this.#nonce = nonce;
  }

  async open({ model, sandboxFault }: UpstreamOpening): Promise<UpstreamConnection | UpstreamFault> {
    if (this.#isClosed) return closed();
    const fault = parseFault(sandboxFault);
    if (fault && 'ok' in fault) return rejected(fault);
    const refusal = faultInsteadOfAnswer(fault);
    if (refusal) return refusal;
    const socket = new SandboxSocket(model, this.#nonce(), (ended) => this.#open.delete(ended));
    this.#open.add(socket);
    return { ok: true, socket };
  }

  close(): void {
    this.#isClosed = true;
    for (const socket of this.#open) socket.close(1001, 'the sandbox stops');
  }
}
