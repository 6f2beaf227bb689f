import type { EventSocket, SocketEnd } from '../../../../kernel/event-socket.ts';
import { type Fields, SandboxSession } from './sandbox-session.ts';

/** The provider's end of a connection to the sandbox, in this process: what it says is made when it is taken. */
export class SandboxSocket implements EventSocket {
  readonly #session: SandboxSession;
  readonly #onClose: (socket: SandboxSocket) => void;
  #end: SocketEnd | undefined;
  #wake: (() => void) | undefined;

  constructor(model: string, id: string, onClose: (socket: SandboxSocket) => void) {
    this.#session = new SandboxSession(model, id);
    this.#onClose = onClose;
  }

  async pump(take: (frame: Buffer, isText: boolean) => void | Promise<void>): Promise<SocketEnd> {
    for (;;) {
      if (this.#end) return this.#end;
      const event = this.#session.next();
      if (event) await take(Buffer.from(JSON.stringify(event)), true);
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  send(frame: string | Buffer): void {
    if (this.#end) return;
    this.#session.hear(JSON.parse(String(frame)) as Fields);
    this.#wake?.();
  }

  close(code: number, reason: string): void {
    this.#end ??= { code, reason };
    this.#onClose(this);
    this.#wake?.();
  }
}
