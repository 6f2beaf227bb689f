import { contract } from '@tallygate/contract';
import { ledgerRoutes, usageRoutes } from '../money/ledger/index.ts';
import { type Endpoint, endpointsOf } from './http/endpoint.ts';

type LedgerEndpointsDeps = Parameters<typeof ledgerRoutes>[0];

/** What was used and what it cost, request by request and summed up. */
export const ledgerEndpoints = (deps: LedgerEndpointsDeps): Endpoint[] => [
  ...endpointsOf(contract.ledger, ledgerRoutes(deps)),
  ...endpointsOf(contract.usage, usageRoutes(deps)),
];
