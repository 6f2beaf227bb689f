export { joinProject } from './join-project.ts';
export { deleteProjectMembers, type LeftProject, leaveProjects, ProjectMembers } from './project-members.ts';
export { projectsSeenBy, requireProject } from './project-rights.ts';
export { Projects } from './projects.ts';
export { projectRoutes } from './routes.ts';
