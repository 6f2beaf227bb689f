import { readJson } from '../../../../kernel/read-json.ts';
import type { EventSocket, SocketEnd } from '../../../../kernel/web-socket/event-socket.ts';
import { writtenJson } from '../../../../kernel/written-json.ts';
import { type Fields, SandboxSession } from './sandbox-session.ts';

/** What waits to be taken before its sender is told to wait. */
const MOST_WAITING = 16;

/** The provider's end of a connection to the sandbox, in this process: what it says is made when it is taken. */
export class SandboxSocket implements EventSocket {
  readonly #session: SandboxSession;
  readonly #onClose: (socket: SandboxSocket) => void;
  #end: SocketEnd | undefined;
  #wake: (() => void) | undefined;
  /** Told once there is room for more. */
  #senders: (() => void)[] = [];

  constructor(model: string, id: string, onClose: (socket: SandboxSocket) => void) {
    this.#session = new SandboxSession(model, id);
    this.#onClose = onClose;
  }

  async pump(take: (frame: Buffer, isText: boolean) => void | Promise<void>): Promise<SocketEnd> {
    for (;;) {
      if (this.#end) return this.#end;
      const event = this.#session.next();
      if (this.#session.waiting <= MOST_WAITING) this.#goOn();
      if (event) await take(await writtenJson(event), true);
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }

  async send(frame: string | Buffer): Promise<void> {
    const event = await readJson(Buffer.from(frame));
    if (this.#end) return;
    this.#session.hear(event as Fields);
    this.#wake?.();
    if (this.#session.waiting > MOST_WAITING) await new Promise<void>((resolve) => this.#senders.push(resolve));
  }

  close(code: number, reason: string): void {
    this.#end ??= { code, reason };
    this.#onClose(this);
    this.#wake?.();
    this.#goOn();
  }

  #goOn(): void {
    for (const resume of this.#senders.splice(0)) resume();
  }
}
