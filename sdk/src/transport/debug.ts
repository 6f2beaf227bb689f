/**
 * The data about a call for `onDebug`. It never has a header, a body or a query value: no credential, prompt or answer can leak
 * through it.
 */
export type DebugEvent =
  | { readonly type: 'request'; readonly method: string; readonly path: string; readonly attempt: number }
  | {
      readonly type: 'response';
      readonly method: string;
      readonly path: string;
      readonly attempt: number;
      readonly status: number;
      readonly requestId: string | undefined;
      /** Until the headers had arrived, milliseconds. */
      readonly durationMs: number;
    }
  | {
      readonly type: 'retry';
      readonly method: string;
      readonly path: string;
      /** The attempt that failed, counted from 0. */
      readonly attempt: number;
      readonly code: string;
      readonly delayMs: number;
    };

export type OnDebug = (event: DebugEvent) => void;
