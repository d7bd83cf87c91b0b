import type { AgentRole, AgentRoles } from './agent-role.ts';

/** The roles that every configuration has, unless it defines one of the same name. */
const BUILT_IN_ROLES: readonly AgentRole[] = [
  { name: 'default', description: 'A general agent.', nicknames: [], config: {} },
  {
    name: 'worker',
    description:
      'Makes changes: implements a part of the work, fixes a fault, writes tests. Say which files belong to it.',
    nicknames: [],
    config: {
      developer_instructions:
        'You are one of several agents that work in the same folder at the same time. Change only what belongs to your task. Do not undo changes that you did not make. At the end, list the files that you have changed.',
    },
  },
  {
    name: 'explorer',
    description: 'Answers a question about the code. It reads and searches, and changes nothing.',
    nicknames: [],
    config: {
      sandbox_mode: 'read-only',
      developer_instructions:
        'You answer a question about the code for another agent. Change nothing. Answer in a few sentences, and name the files and lines that prove your answer.',
    },
  },
];

/** Whether heddle has a role of this name without any configuration. */
export function isBuiltInRole(name: string): boolean {
  return BUILT_IN_ROLES.some((role) => role.name === name);
}

/**
 * All roles: the built-in ones and the configured ones. A configured role, valid or not, takes the
 * place of a built-in one.
 */
export function knownRoles({ roles, problems }: AgentRoles): AgentRole[] {
  const isConfigured = (name: string) =>
    roles.some((role) => role.name === name) || problems.some(({ role }) => role === name);
  return [...BUILT_IN_ROLES.filter(({ name }) => !isConfigured(name)), ...roles];
}
