// Generated from schema/model-script.schema.json by `npm run generate`. Do not edit.

/**
 * What heddle's scripted model answers. Either a list of responses, or an object with that list and settings for the whole script.
 */
export type ModelScript = Responses | Script;
/**
 * A text is a message. One step or a list of steps is an answer to whatever is asked. `reply` with `match`, `times` and others says more.
 */
export type Response = Reply | Rule;
/**
 * What is answered: a text as a message, one step, or a list of steps.
 */
export type Reply = Step | Step[];
/**
 * A part of an answer. A text is a message.
 */
export type Step =
  string | MessageStep | ReasoningStep | CallStep | CustomCallStep | PlanStep | ItemStep | WaitStep | HangStep | ErrorStep | CutStep;
/**
 * How a text is cut into deltas: that many characters each, by `word` (the default), or `all` in one.
 */
export type Chunk = number | ('word' | 'all');
/**
 * Milliseconds. As `delay`: the time before each delta but the first; 0 unless said.
 */
export type Milliseconds = number;
/**
 * A text, or a list of texts that are a part each.
 */
export type Parts = string | string[];
/**
 * The turn goes on: clients are told that the model is asked again, after so many milliseconds (true: at once), and the next response that matches answers.
 */
export type Retry = boolean | number;
/**
 * A text that has to be in it, a regular expression between slashes, or `is` with the whole text.
 */
export type TextMatch =
  | string
  | {
      /**
       * The whole text.
       */
      is: string;
    };
/**
 * The tokens that the response tells; `none`: it tells none. Without it they are estimated, one for four bytes.
 */
export type Usage =
  | 'none'
  | {
      input: Tokens;
      cached?: Tokens;
      output: Tokens;
      reasoning?: Tokens;
    };
export type Tokens = number;
/**
 * Each answers one request to the model, unless it says how many. Those with a match answer whenever they match, the others in their turn, when what stands before them is used up.
 *
 * @minItems 1
 */
export type Responses = Response[];

export interface MessageStep {
  /**
   * What the model says: a text, or a list of the deltas that it comes in.
   */
  message: string | string[];
  /**
   * Whether it is said on the way or is the answer.
   */
  phase?: 'commentary' | 'partial_answer' | 'final_answer';
  chunk?: Chunk;
  delay?: Milliseconds;
}
export interface ReasoningStep {
  /**
   * What the model thinks: its summary as a text or a list of parts, or an object with `summary` and `raw`. Clients see `raw` where show_raw_agent_reasoning is on.
   */
  reasoning:
    | Parts
    | {
        summary?: Parts;
        raw?: Parts;
      };
  chunk?: Chunk;
  delay?: Milliseconds;
}
export interface CallStep {
  /**
   * The name of the tool to call. Calls of one response are made together.
   */
  call: string;
  /**
   * An object, sent as JSON; or a text that is sent as it is, JSON or not. Without it, an empty object.
   */
  arguments?:
    | {
        [k: string]: unknown;
      }
    | string;
  /**
   * The call's id; without it one is made.
   */
  id?: string;
}
export interface CustomCallStep {
  /**
   * The name of a tool that takes a text.
   */
  call: string;
  /**
   * The text that the tool is given.
   */
  input: string;
  /**
   * The call's id; without it one is made.
   */
  id?: string;
}
export interface PlanStep {
  /**
   * A call of update_plan: each step of the work with how far it is.
   */
  plan: {
    [k: string]: 'pending' | 'in_progress' | 'completed';
  };
  /**
   * Why the plan has changed.
   */
  explanation?: string;
}
export interface ItemStep {
  /**
   * An item of the Responses API as it is, for what no other step makes.
   */
  item: {
    type: string;
    [k: string]: unknown;
  };
}
export interface WaitStep {
  wait: Milliseconds;
}
export interface HangStep {
  /**
   * Silence until the turn is interrupted or steered.
   */
  hang: true;
}
export interface ErrorStep {
  /**
   * A word of codexErrorInfo, or the HTTP status that a provider refuses with.
   */
  error:
    | (
        | 'badRequest'
        | 'contextWindowExceeded'
        | 'cyberPolicy'
        | 'flexUnavailable'
        | 'inferenceHookDenied'
        | 'internalServerError'
        | 'misalignmentPolicyViolation'
        | 'modelNotFound'
        | 'other'
        | 'policyCapacityUnavailable'
        | 'rateLimitExceeded'
        | 'sandboxError'
        | 'serverOverloaded'
        | 'sessionBudgetExceeded'
        | 'tooManyDenials'
        | 'unauthorized'
        | 'usageLimitExceeded'
        | 'httpConnectionFailed'
        | 'responseStreamConnectionFailed'
        | 'responseStreamDisconnected'
        | 'responseTooManyFailedAttempts'
      )
    | number;
  /**
   * What the client reads, or with an HTTP status what the provider says.
   */
  text?: string;
  /**
   * The error's additionalDetails.
   */
  details?: string;
  retry?: Retry;
}
export interface CutStep {
  /**
   * The stream ends here, without having said that the response is complete.
   */
  cut: true;
  retry?: Retry;
}
/**
 * A response with a condition, or one that is given another number of times than once.
 */
export interface Rule {
  /**
   * How reports call this response.
   */
  name?: string;
  match?: Match;
  reply: Reply;
  /**
   * How many requests it answers, 1 unless said. `any`: as many as come, at least one.
   */
  times?: number | 'any';
  /**
   * true: the run does not fail where this response is left over.
   */
  optional?: boolean;
  usage?: Usage;
}
/**
 * What the request has to be; all that is named has to hold.
 */
export interface Match {
  user?: TextMatch;
  prompt?: TextMatch;
  output?: TextMatch;
  /**
   * The name of a tool that answered since the user's last message.
   */
  tool?: string;
  /**
   * How many tool calls the model has made since the user's last message; 0: it is asked for the first time.
   */
  calls?: number;
  /**
   * The model's whole name, or a regular expression for it.
   */
  model?: string;
  /**
   * Names of tools that are offered to the model; an empty list: none is.
   */
  tools?: string[];
  /**
   * Which thread asks, in the order of their first requests, from 1.
   */
  thread?: number;
  /**
   * How many messages the user has sent in this thread.
   */
  turn?: number;
  /**
   * Which request of the whole run it is, from 1, retries counted.
   */
  request?: number;
}
/**
 * The responses, with settings for all of them.
 */
export interface Script {
  responses: Responses;
  /**
   * any (the default): responses with a match answer whenever they match, the others in their turn. strict: all answer in their turn alone.
   */
  order?: 'any' | 'strict';
  chunk?: Chunk;
  delay?: Milliseconds;
}

/** The schema without notes for readers. */
export const modelScriptSchema = {"anyOf":[{"$ref":"#/definitions/Responses"},{"$ref":"#/definitions/Script"}],"definitions":{"Script":{"type":"object","required":["responses"],"additionalProperties":false,"properties":{"responses":{"$ref":"#/definitions/Responses"},"order":{"enum":["any","strict"]},"chunk":{"$ref":"#/definitions/Chunk"},"delay":{"$ref":"#/definitions/Milliseconds"}}},"Responses":{"type":"array","minItems":1,"items":{"$ref":"#/definitions/Response"}},"Response":{"anyOf":[{"$ref":"#/definitions/Reply"},{"$ref":"#/definitions/Rule"}]},"Reply":{"anyOf":[{"$ref":"#/definitions/Step"},{"type":"array","minItems":1,"items":{"$ref":"#/definitions/Step"}}]},"Rule":{"type":"object","required":["reply"],"additionalProperties":false,"properties":{"name":{"type":"string","minLength":1},"match":{"$ref":"#/definitions/Match"},"reply":{"$ref":"#/definitions/Reply"},"times":{"anyOf":[{"type":"integer","minimum":1,"maximum":1000000},{"enum":["any"]}]},"optional":{"type":"boolean"},"usage":{"$ref":"#/definitions/Usage"}}},"Match":{"type":"object","minProperties":1,"additionalProperties":false,"properties":{"user":{"$ref":"#/definitions/TextMatch"},"prompt":{"$ref":"#/definitions/TextMatch"},"output":{"$ref":"#/definitions/TextMatch"},"tool":{"type":"string","minLength":1},"calls":{"type":"integer","minimum":0},"model":{"type":"string","minLength":1},"tools":{"type":"array","items":{"type":"string","minLength":1}},"thread":{"type":"integer","minimum":1},"turn":{"type":"integer","minimum":1},"request":{"type":"integer","minimum":1}}},"TextMatch":{"anyOf":[{"type":"string","minLength":1},{"type":"object","required":["is"],"additionalProperties":false,"properties":{"is":{"type":"string"}}}]},"Step":{"anyOf":[{"type":"string"},{"$ref":"#/definitions/MessageStep"},{"$ref":"#/definitions/ReasoningStep"},{"$ref":"#/definitions/CallStep"},{"$ref":"#/definitions/CustomCallStep"},{"$ref":"#/definitions/PlanStep"},{"$ref":"#/definitions/ItemStep"},{"$ref":"#/definitions/WaitStep"},{"$ref":"#/definitions/HangStep"},{"$ref":"#/definitions/ErrorStep"},{"$ref":"#/definitions/CutStep"}]},"MessageStep":{"type":"object","required":["message"],"additionalProperties":false,"properties":{"message":{"anyOf":[{"type":"string"},{"type":"array","minItems":1,"items":{"type":"string"}}]},"phase":{"enum":["commentary","partial_answer","final_answer"]},"chunk":{"$ref":"#/definitions/Chunk"},"delay":{"$ref":"#/definitions/Milliseconds"}}},"ReasoningStep":{"type":"object","required":["reasoning"],"additionalProperties":false,"properties":{"reasoning":{"anyOf":[{"$ref":"#/definitions/Parts"},{"type":"object","minProperties":1,"additionalProperties":false,"properties":{"summary":{"$ref":"#/definitions/Parts"},"raw":{"$ref":"#/definitions/Parts"}}}]},"chunk":{"$ref":"#/definitions/Chunk"},"delay":{"$ref":"#/definitions/Milliseconds"}}},"CallStep":{"type":"object","required":["call"],"additionalProperties":false,"properties":{"call":{"type":"string","minLength":1},"arguments":{"anyOf":[{"type":"object"},{"type":"string"}]},"id":{"type":"string","minLength":1}}},"CustomCallStep":{"type":"object","required":["call","input"],"additionalProperties":false,"properties":{"call":{"type":"string","minLength":1},"input":{"type":"string"},"id":{"type":"string","minLength":1}}},"PlanStep":{"type":"object","required":["plan"],"additionalProperties":false,"properties":{"plan":{"type":"object","minProperties":1,"additionalProperties":{"enum":["pending","in_progress","completed"]}},"explanation":{"type":"string"}}},"ItemStep":{"type":"object","required":["item"],"additionalProperties":false,"properties":{"item":{"type":"object","required":["type"],"properties":{"type":{"type":"string","minLength":1}}}}},"WaitStep":{"type":"object","required":["wait"],"additionalProperties":false,"properties":{"wait":{"$ref":"#/definitions/Milliseconds"}}},"HangStep":{"type":"object","required":["hang"],"additionalProperties":false,"properties":{"hang":{"const":true}}},"ErrorStep":{"type":"object","required":["error"],"additionalProperties":false,"properties":{"error":{"anyOf":[{"enum":["badRequest","contextWindowExceeded","cyberPolicy","flexUnavailable","inferenceHookDenied","internalServerError","misalignmentPolicyViolation","modelNotFound","other","policyCapacityUnavailable","rateLimitExceeded","sandboxError","serverOverloaded","sessionBudgetExceeded","tooManyDenials","unauthorized","usageLimitExceeded","httpConnectionFailed","responseStreamConnectionFailed","responseStreamDisconnected","responseTooManyFailedAttempts"]},{"type":"integer","minimum":300,"maximum":599}]},"text":{"type":"string","minLength":1},"details":{"type":"string"},"retry":{"$ref":"#/definitions/Retry"}}},"CutStep":{"type":"object","required":["cut"],"additionalProperties":false,"properties":{"cut":{"const":true},"retry":{"$ref":"#/definitions/Retry"}}},"Retry":{"anyOf":[{"type":"boolean"},{"type":"integer","minimum":0,"maximum":86400000}]},"Usage":{"anyOf":[{"enum":["none"]},{"type":"object","required":["input","output"],"additionalProperties":false,"properties":{"input":{"$ref":"#/definitions/Tokens"},"cached":{"$ref":"#/definitions/Tokens"},"output":{"$ref":"#/definitions/Tokens"},"reasoning":{"$ref":"#/definitions/Tokens"}}}]},"Tokens":{"type":"integer","minimum":0,"maximum":1000000000000},"Parts":{"anyOf":[{"type":"string"},{"type":"array","minItems":1,"items":{"type":"string"}}]},"Chunk":{"anyOf":[{"type":"integer","minimum":1,"maximum":1000000},{"enum":["word","all"]}]},"Milliseconds":{"type":"integer","minimum":0,"maximum":86400000}}};
