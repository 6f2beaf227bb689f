export { Projects, requireProject } from './projects.ts';
export { projectRoutes } from './routes.ts';
