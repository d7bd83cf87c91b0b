import type { JsonObject } from '../../base/json-value.ts';
import type { LocatedWarning } from '../toml/config-error.ts';

/** A role that an agent can have. */
export interface AgentRole {
  name: string;
  /** When a model should choose the role. May be empty. */
  description: string;
  /** Names for agents of the role; empty: the server's own. */
  nicknames: readonly string[];
  /**
   * The configuration of its agents, which allows no more than that of the thread: see
   * `confinedRole` and `confinedSettings`.
   */
  config: JsonObject;
}

/** Something is wrong with a role, or a part of it is ignored. */
export interface RoleProblem extends LocatedWarning {
  /** The role that no agent can have because of it; null: all roles can be used. */
  role: string | null;
  /** Whether the role is of a project. */
  isProjects: boolean;
}

/** The roles that the configuration defines. */
export interface AgentRoles {
  /** By name. */
  roles: readonly AgentRole[];
  problems: readonly RoleProblem[];
}
