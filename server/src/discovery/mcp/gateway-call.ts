/** A request to the gateway's own API, as any caller could send it. */
export interface GatewayRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** Lower case; the credential is added by the caller of this function. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

export interface GatewayAnswer {
  readonly status: number;
  /** Lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/**
 * Asks the gateway on behalf of one caller, with that caller's credential: what the API admits, holds, charges and refuses, it does for a
 * tool in the same way.
 */
export type CallGateway = (request: GatewayRequest, signal: AbortSignal) => Promise<GatewayAnswer>;
