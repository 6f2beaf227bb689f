import type { ErrorEntry } from './error-entry.ts';

/** Of connections to realtime models. */
export const REALTIME_ERRORS = {
  upgrade_required: {
    status: 426,
    title: 'A WebSocket is needed',
    type: 'invalid_request_error',
    retryable: false,
    help: '`GET /v1/realtime` is a WebSocket: send `Connection: Upgrade`, `Upgrade: websocket`, `Sec-WebSocket-Version: 13` and `Sec-WebSocket-Key`, as every WebSocket client does. A proxy in front of the gateway has to pass these headers on.',
  },
  realtime_sessions_full: {
    status: 429,
    title: 'Too many realtime sessions',
    type: 'rate_limit_error',
    retryable: true,
    help: 'The API key has as many realtime sessions open on this gateway as it may have (`REALTIME_SESSIONS_PER_KEY`). Close some of them, and connect again.',
  },
  session_expired: {
    status: 400,
    title: 'The realtime session has ended',
    type: 'invalid_request_error',
    retryable: true,
    help: 'A realtime session ends after 60 minutes, and after 30 minutes in which its client says nothing. Its responses are settled. Open another session. This code comes in an `error` event of the session, before it is closed.',
  },
} as const satisfies Record<string, ErrorEntry>;
