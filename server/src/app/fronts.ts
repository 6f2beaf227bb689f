import type { Server } from 'node:http';
import { publishedKeySet, receiptKeyOf } from '../receipts/index.ts';
import { anchorAnswerOf } from './anchoring-config.ts';
import { endpointsOfAll } from './endpoints.ts';
import { AccessControl } from './http/access-control.ts';
import { endpointRoutes } from './http/account-api.ts';
import { createAnswerHeaders } from './http/answer-headers.ts';
import { withConsoleAtRoot } from './http/console.ts';
import { eventPageRoutes } from './http/event-pages.ts';
import { fileTransferRoutes } from './http/file-api.ts';
import { createFront } from './http/front.ts';
import { INFERENCE_FORM } from './http/inference-form.ts';
import { createInnerCall } from './http/inner-call.ts';
import { withLiveStream } from './http/live-api.ts';
import { logRoutes } from './http/log-api.ts';
import { mcpRoutes } from './http/mcp-api.ts';
import { messageBatchRoutesOf } from './http/message-batch-api.ts';
import { withModelsOnSurfaces } from './http/model-api.ts';
import { modelRoutes } from './http/model-routes.ts';
import { paymentRoutes } from './http/payment-api.ts';
import { RefusalLimits } from './http/refusal-limits.ts';
import { withCountedTokens, withResponseStream } from './http/response-api.ts';
import type { ServedRoute } from './http/router.ts';
import { scimRoutes } from './http/scim-api.ts';
import { signInRoutes } from './http/sign-in-api.ts';
import { trustedPages } from './http/trusted-pages.ts';
import { usageTransferRoutes } from './http/usage-transfer-api.ts';
import { videoRoutes } from './http/video-api.ts';
import { createDedicatedFront, type Fronts, routesByAddress } from './listeners.ts';
import type { Parts } from './parts.ts';

/** What is listened on, each with the routes that its address has. */
export function openFronts(parts: Parts): Fronts {
  const { foundation, accessControl, accounts, refusals, problemReply, readiness, peerAddress, isHttps, capacity, shown } = parts;
  const { config, clock, log } = foundation;
  const frontDeps = {
    ...{ refusals, problemReply, clock, log, isDraining: () => readiness.isDraining },
    refusalLimits: new RefusalLimits({ perMinute: config.refusalsPerMinute, peerAddress }),
    headers: createAnswerHeaders({ isHttps }),
  };
  const endpoints = jsonRoutes(parts);
  const inferenceDeps = inferenceDepsOf(parts);
  const inference = modelRoutes({ ...inferenceDeps, accessControl, sharedLane: capacity.sharedLane });
  const routes = routesByAddress(
    [...inference, ...withStreams(endpoints, parts), ...transferRoutes(parts), ...toolRoutes(parts, () => shared), ...pageRoutes(parts)],
    config,
  );
  const shared: Server = createFront({ ...frontDeps, accessControl, routes: routes.shared });
  const dedicatedAccess = new AccessControl(accounts.authenticator, 'dedicated');
  return {
    shared,
    operations: routes.operations && createFront({ ...frontDeps, accessControl, routes: routes.operations }),
    dedicated:
      config.dedicated &&
      createDedicatedFront(
        { ...frontDeps, accessControl: dedicatedAccess },
        {
          inference: modelRoutes({ ...inferenceDeps, accessControl: dedicatedAccess, sharedLane: undefined }),
          others: withModelsOnSurfaces(endpoints, shown),
        },
      ),
  };
}

function jsonRoutes(parts: Parts): ServedRoute[] {
  const { foundation, accessControl, idempotency, refusals, peerAddress, bodyMemory } = parts;
  const { accountBody: bodyLimits, keptBody: largeBodyLimits } = foundation.config.bodies;
  return endpointRoutes({
    ...{ endpoints: endpointsOfAll(parts), accessControl, idempotency, refusals, peerAddress },
    ...{ bodyLimits, largeBodyLimits, bodyMemory },
  });
}

/** Those of the endpoints that answer by a stream, or in another surface's words, where they are asked to. */
function withStreams(endpoints: readonly ServedRoute[], parts: Parts): ServedRoute[] {
  const { liveFigures, accessControl, readiness, kept, refusedRequests, shown } = parts;
  const following = { accounts: liveFigures.accounts, accessControl, isDraining: () => readiness.isDraining };
  const streaming = withResponseStream(withLiveStream(endpoints, following), kept.followResponse);
  return withConsoleAtRoot(withModelsOnSurfaces(withCountedTokens(streaming, refusedRequests), shown));
}

function inferenceDepsOf(parts: Parts) {
  const { foundation, serving, accounts, kept, blobs, refusals, idempotency, refusedRequests, bodyMemory } = parts;
  const { config } = foundation;
  const { inference, checkSignature } = serving;
  return {
    ...{ refusals, idempotency, inference, operations: kept.operations, checkSignature, blobs, refusedRequests, bodyMemory },
    anchorAnswer: anchorAnswerOf(config),
    clientSecrets: accounts.clientSecrets,
    bodyLimits: config.bodies.inferenceBody,
    formLimits: { ...fileLimitsOf(parts), ...INFERENCE_FORM },
  };
}

function fileLimitsOf({ foundation: { config } }: Parts) {
  const { storageBytes: _, ...limits } = config.files;
  return limits;
}

/** What is bytes, or a list that is written as it is read. */
function transferRoutes(parts: Parts): ServedRoute[] {
  const { foundation, ownLog, kept, blobs, accessControl, idempotency, refusals, forReaders, marketing } = parts;
  const { config, pool, archive, clock, log } = foundation;
  const limits = fileLimitsOf(parts);
  const { idleTimeoutMs } = limits;
  const { files, uploads, videos, messageBatches } = kept;
  return [
    ...fileTransferRoutes({ files, uploads, blobs, limits, accessControl, idempotency, refusals, log }),
    ...videoRoutes({ videos, idleTimeoutMs, log }),
    ...messageBatchRoutesOf({ messageBatches, idleTimeoutMs, log }),
    ...logRoutes({
      ...{ pool, archive, key: receiptKeyOf(ownLog.ownKeys), clock, log, idleTimeoutMs, ...forReaders },
      keySet: () => publishedKeySet(pool, ownLog.ownKeys),
      isAnchoring: config.anchorChains.length > 0,
    }),
    ...usageTransferRoutes({ pool, clock, log, limits }),
    ...marketing.routes,
  ];
}

/** @param front what a tool calls its operation at */
function toolRoutes(parts: Parts, front: () => Server): ServedRoute[] {
  const { foundation, discovery, accessControl, refusedRequests, peerAddress, publicUrl, bodyMemory } = parts;
  const { config, clock, log } = foundation;
  return mcpRoutes({
    offer: discovery.offer,
    innerCall: createInnerCall({ front }),
    pages: trustedPages(config, publicUrl),
    ...{ accessControl, refusedRequests, peerAddress, publicUrl, clock, log },
    ...{ bodyLimits: config.bodies.keptBody, bodyMemory },
  });
}

/** What is no operation for clients: sign-in, directories, pages, webhooks of the payment provider, console, documentation and metrics. */
function pageRoutes({ foundation, directory, events, pageOf, payments, plans, site, peerAddress, publicUrl }: Parts): ServedRoute[] {
  const { config, clock, log } = foundation;
  const { signIns } = directory;
  return [
    ...(signIns ? signInRoutes({ signIns, publicUrl, webUrl: config.webUrl, peerAddress, log }) : []),
    ...scimRoutes({ ...directory, publicUrl, peerAddress }),
    ...eventPageRoutes({ events, clock, peerAddress, pageOf, log }),
    ...paymentRoutes({ receive: plans.events.receive, hasWebhookSecret: config.stripe !== undefined, pages: payments.pages }),
    ...site.routes,
  ];
}
