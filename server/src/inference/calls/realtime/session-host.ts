import type { EventSocket } from '../../../kernel/web-socket/event-socket.ts';
import type { Caller } from '../call-context.ts';
import type { Target } from '../deployments.ts';
import type { InferenceDeps } from '../deps.ts';
import type { InferenceHeaders } from '../headers.ts';
import type { ConversationBound } from './conversation-bound.ts';
import type { RealtimeEvent } from './events.ts';
import type { SessionResponses } from './responses.ts';
import type { RunningResponse } from './running-response.ts';
import type { SessionSettings } from './session-settings.ts';
import type { TranscribedSession, Transcripts } from './transcripts.ts';

/** What a connection was opened with. */
export interface SessionFacts {
  /** By which the client knows it. */
  readonly requestId: string;
  readonly headers: InferenceHeaders;
  /** As it was asked for. */
  readonly model: string;
  readonly target: Target;
  /** What a client secret has set. */
  readonly given?: Readonly<Record<string, unknown>> | undefined;
  /** Whose it is, as they are now. @throws Problem where they may not go on */
  renew(): Promise<Caller>;
}

/** Why a session ends, as its close frame says it. */
export interface Ending {
  readonly code: 1000 | 1001 | 1008 | 1011;
  readonly reason: string;
}

/** A session as the events of either side see it. */
export interface SessionHost extends TranscribedSession {
  readonly settings: SessionSettings;
  readonly conversation: ConversationBound;
  readonly responses: SessionResponses;
  readonly transcripts: Transcripts;
  readonly facts: SessionFacts;
  readonly deps: InferenceDeps;
  readonly provider: EventSocket;
  readonly isEnding: boolean;
  /** Tells the client, once there is one. */
  tell(frame: string | Buffer): Promise<void>;
  /** What is refused is told; where money is at its end, so is the session. */
  refuse(thrown: unknown, causedBy?: string): Promise<void>;
  /** Holds a response and asks the provider for it. @param event a `response.create`, and as what it was received @throws Problem as `admit` */
  ask(event: RealtimeEvent, received: Buffer | string): Promise<void>;
  /** Holds a response. @param received what asks for it @throws Problem as `admit` */
  begin(asked: Readonly<Record<string, unknown>>, received: Buffer | string): Promise<RunningResponse>;
  /** The provider is told that nobody wants it, once it has an id. */
  cancel(response: RunningResponse): Promise<void>;
  /** Ends it when nothing of it is at work any more. */
  end(ending: Ending): void;
  closeWhenIdle(): void;
}
