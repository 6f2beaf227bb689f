export { createClientRequests } from './client-requests.ts';
export { clientRequestRecords } from './person-records.ts';
export { clientRequestRoutes } from './routes.ts';
