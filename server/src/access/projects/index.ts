export { type GiveProjects, giveProjects, mostOf, type RolesInProjects } from './directory-memberships.ts';
export { joinProject } from './join-project.ts';
export { deleteProjectMembers, type LeftProject, leaveProjects, ProjectMembers } from './project-members.ts';
export { hasProjects, projectsNamed, projectsSeenBy, requireProject, seenBy } from './project-rights.ts';
export { Projects } from './projects.ts';
export { projectRoutes } from './routes.ts';
