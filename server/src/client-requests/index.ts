export { createClientRequests } from './client-requests.ts';
export { clientRequestRoutes } from './routes.ts';
