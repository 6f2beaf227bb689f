/** So many projects have series of their own in one process. */
const MOST_PROJECTS = 100;
const NONE = 'none';
const OTHER = 'other';

/** Values of the label `project`: the ids of the projects that are seen first, one for all further ones, and one for requests of none. */
export class ProjectLabels {
  readonly #known = new Set<string>();

  of(projectId: string | undefined): string {
    if (projectId === undefined) return NONE;
    if (this.#known.has(projectId)) return projectId;
    if (this.#known.size >= MOST_PROJECTS) return OTHER;
    this.#known.add(projectId);
    return projectId;
  }
}
