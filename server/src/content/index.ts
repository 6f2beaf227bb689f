export { type Content, createContent } from './content.ts';
export { contentRoutes } from './routes.ts';
