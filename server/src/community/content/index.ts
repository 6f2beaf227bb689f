export { createContent } from './content.ts';
export { contentRoutes } from './routes.ts';
