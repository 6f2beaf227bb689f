import type { AppRoute, AppRouter, ServerInferRequest, ServerInferResponses } from '@ts-rest/core';
import type { Administrator, ModelCaller, Principal, SessionPrincipal } from './principal.ts';

/** The client of a request: stored with sessions, never trusted. */
export interface Peer {
  readonly address: string | null;
  readonly userAgent: string | null;
}

/** What every handler is given beside its validated input. */
export interface Call {
  readonly requestId: string;
  readonly peer: Peer;
  /** Adds a header to the answer. */
  setHeader(name: string, value: string): void;
}

/** The caller as the route's own metadata demands: a session route is never handed an API key. */
type CallerOf<Route> = Route extends { metadata: { auth: 'bearer'; session: true; manage: string } }
  ? { readonly principal: Administrator }
  : Route extends { metadata: { auth: 'bearer'; session: true } }
    ? { readonly principal: SessionPrincipal }
    : Route extends { metadata: { auth: 'bearer'; scope: 'inference' } }
      ? { readonly principal: ModelCaller }
      : Route extends { metadata: { auth: 'bearer' } }
        ? { readonly principal: Principal }
        : unknown;

/** Translates one route: input that fits the contract and a proven caller in, an answer of the contract out. Refusals are thrown. */
export type Handler<Route extends AppRoute> = (
  call: ServerInferRequest<Route> & CallerOf<Route> & Call,
) => Promise<ServerInferResponses<Route>>;

/** A slice's routes: one handler for each entry of its contract. */
export type Handlers<Contract extends AppRouter> = {
  [Name in keyof Contract]: Contract[Name] extends AppRoute ? Handler<Contract[Name]> : never;
};
