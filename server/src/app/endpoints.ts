import { contract } from '@tallygate/contract';
import { clientRequestRoutes, createClientRequests } from '../community/client-requests/index.ts';
import { contentRoutes, createContent } from '../community/content/index.ts';
import { checkoutRoutes, marketingEventRoutes, registrationRoutes, siteEventRoutes } from '../community/events/index.ts';
import { inviteRoutes } from '../community/invites/index.ts';
import { deploymentRoutes, googleModelRoutes } from '../inference/calls/index.ts';
import { budgetRoutes, createBudgetRecords } from '../money/budgets/index.ts';
import { CatalogAdministration, catalogRoutes } from '../money/catalog/index.ts';
import { Limits, limitRoutes } from '../money/limits/index.ts';
import { planAdministrationRoutes, planRoutes } from '../money/plans/index.ts';
import { runRoutes } from '../money/runs/index.ts';
import { anchorRoutes, invoiceRoutes, publishedKeySet, receiptKeyOf, receiptRoutes } from '../receipts/index.ts';
import { accessEndpoints } from './access-endpoints.ts';
import { healthRoutes } from './health.ts';
import { type Endpoint, endpointsOf } from './http/endpoint.ts';
import { ledgerEndpoints } from './ledger-endpoints.ts';
import type { Parts } from './parts.ts';

/** Every operation whose answer is whole and JSON, except those of inference. */
export const endpointsOfAll = (parts: Parts): Endpoint[] => [
  ...serviceEndpoints(parts),
  ...accessEndpoints({ ...parts.foundation, ...parts.accounts, ...parts.directory, publicUrl: parts.publicUrl }),
  ...modelEndpoints(parts),
  ...moneyEndpoints(parts),
  ...receiptEndpoints(parts),
  ...parts.kept.endpoints,
  ...parts.marketing.endpoints,
  ...parts.webhooks.endpoints,
  ...parts.liveFigures.endpoints,
  ...communityEndpoints(parts),
];

const serviceEndpoints = ({ foundation, billing, blobs, readiness, site, publicUrl }: Parts): Endpoint[] =>
  endpointsOf(
    contract.discovery,
    healthRoutes({
      ...{ readiness, publicUrl, hasDocs: site.hasDocs },
      needs: { ...foundation, ...billing, blobs, redis: foundation.redis?.prompt },
    }),
  );

function modelEndpoints({ foundation: { pool, clock }, ownLog, catalog, shown, serving }: Parts): Endpoint[] {
  const { inference, discovery } = serving;
  const administration = new CatalogAdministration({ pool, catalog, log: ownLog.declaring });
  return [
    ...endpointsOf(contract.catalog, catalogRoutes({ catalog, shown, administration, discover: () => discovery.discover(), clock })),
    ...endpointsOf(contract.googleModels, googleModelRoutes({ ...inference, shown })),
    ...endpointsOf(contract.deployments, deploymentRoutes({ deployments: inference.deployments, clock })),
  ];
}

function moneyEndpoints(parts: Parts): Endpoint[] {
  const { foundation, billing, catalog, accounts, serving, forReaders, budgets, live, plans } = parts;
  const { config, pool, archive, clock } = foundation;
  const { lanes, refunds, corrections, write } = billing;
  const { keys, keyDirectory } = accounts;
  const isModel = (id: string) => catalog.find(id) !== undefined;
  const forgetKeys = (accountId: string) => keyDirectory.changed(`account:${accountId}`);
  return [
    ...endpointsOf(contract.budgets, budgetRoutes({ budgets, records: createBudgetRecords(pool), keys })),
    ...endpointsOf(contract.limits, limitRoutes(new Limits({ pool, lanes, clock, isModel, forgetKeys }))),
    ...ledgerEndpoints({ pool, archive, clock, refunds, corrections }),
    ...endpointsOf(contract.runs, runRoutes({ ...serving.runs, lanes, write, clock, ...forReaders })),
    ...endpointsOf(contract.plans, planRoutes({ live, paying: plans }, clock)),
    ...endpointsOf(contract.accounts, planAdministrationRoutes(live, config.dedicated ? config.gatewayConcurrency : null)),
  ];
}

function receiptEndpoints({ foundation: { config, pool, archive }, ownLog: { ownKeys }, forReaders }: Parts): Endpoint[] {
  const key = receiptKeyOf(ownKeys);
  const keySet = () => publishedKeySet(pool, ownKeys);
  const isAnchoring = config.anchorChains.length > 0;
  return [
    ...endpointsOf(contract.receipts, receiptRoutes({ pool, archive, key, keySet, ...forReaders, isAnchoring })),
    ...endpointsOf(contract.invoices, invoiceRoutes({ pool, key })),
    ...endpointsOf(contract.anchors, anchorRoutes({ pool, archive })),
  ];
}

function communityEndpoints({ foundation: { pool, clock }, accounts: { identity }, invites, events, pageOf }: Parts): Endpoint[] {
  return [
    ...endpointsOf(contract.invites, inviteRoutes(invites, clock)),
    ...endpointsOf(contract.clientRequests, clientRequestRoutes(createClientRequests({ pool, clock, throttle: identity.throttle }))),
    ...endpointsOf(contract.content, contentRoutes(createContent({ pool, clock }))),
    ...endpointsOf(contract.siteEvents, siteEventRoutes({ ...events, clock, pageOf })),
    ...endpointsOf(contract.marketingEvents, marketingEventRoutes({ ...events, pool, clock })),
    ...endpointsOf(contract.eventCheckouts, checkoutRoutes(events)),
    ...endpointsOf(contract.registrations, registrationRoutes({ ...events, clock })),
  ];
}
