// Generated from schema/model-script.schema.json by `npm run generate`. Do not edit.

/**
 * A script for heddle's scripted model: a list of responses, or an object with this list and settings for all of them.
 */
export type ModelScript = Responses | Script;
/**
 * A string (a message), a step, a list of steps, or an object with `reply` and settings such as `match` and `times`.
 */
export type Response = Reply | Rule;
/**
 * The content of a response: a string (a message), a step, or a list of steps.
 */
export type Reply = Step | Step[];
/**
 * A part of a response. A string is a message.
 */
export type Step =
  string | MessageStep | ReasoningStep | CallStep | CustomCallStep | PlanStep | ItemStep | WaitStep | HangStep | ErrorStep | CutStep;
/**
 * The size of the deltas of a text: a number of characters, `word` (the default), or `all` for a single delta.
 */
export type Chunk = number | ('word' | 'all');
/**
 * Milliseconds. As `delay`: the time before each delta except the first; 0 if absent.
 */
export type Milliseconds = number;
/**
 * A string, or a list of strings, one for each part.
 */
export type Parts = string | string[];
/**
 * The turn continues after the error: clients get an error with `willRetry`, the given number of milliseconds passes (true: none), and the next matching response answers.
 */
export type Retry = boolean | number;
/**
 * A string that the text must contain, a regular expression between slashes, or `is` with the complete text.
 */
export type TextMatch =
  | string
  | {
      /**
       * The complete text.
       */
      is: string;
    };
/**
 * The token usage that the response reports. `none`: it reports none. If absent, the usage is estimated, one token for four bytes.
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
 * The responses. Each answers one model request, unless `times` sets another number. A response with `match` answers whenever it matches. The others answer in order, after the responses before them are used up.
 *
 * @minItems 1
 */
export type Responses = Response[];

export interface MessageStep {
  /**
   * The text of a message: a string, or a list of its deltas.
   */
  message: string | string[];
  /**
   * The phase of the message: commentary on the work, a part of the answer, or the final answer.
   */
  phase?: 'commentary' | 'partial_answer' | 'final_answer';
  chunk?: Chunk;
  delay?: Milliseconds;
}
export interface ReasoningStep {
  /**
   * The model's reasoning: a summary, as a string or a list of parts, or an object with `summary` and `raw`. Clients get `raw` only if show_raw_agent_reasoning is set.
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
   * The name of the tool to call. All calls of a response are made together.
   */
  call: string;
  /**
   * The arguments: an object, which is sent as JSON, or a string, which is sent unchanged even if it is not JSON. An empty object if absent.
   */
  arguments?:
    | {
        [k: string]: unknown;
      }
    | string;
  /**
   * The id of the call. Generated if absent.
   */
  id?: string;
}
export interface CustomCallStep {
  /**
   * The name of a tool whose input is a string.
   */
  call: string;
  /**
   * The input of the tool.
   */
  input: string;
  /**
   * The id of the call. Generated if absent.
   */
  id?: string;
}
export interface PlanStep {
  /**
   * A call of update_plan: the status of each step, by the text of the step.
   */
  plan: {
    [k: string]: 'pending' | 'in_progress' | 'completed';
  };
  /**
   * The reason for the change of the plan.
   */
  explanation?: string;
}
export interface ItemStep {
  /**
   * An item of the Responses API, for items that no other step can make.
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
   * Sends nothing until the turn is interrupted or steered.
   */
  hang: true;
}
export interface ErrorStep {
  /**
   * A value of codexErrorInfo, or the HTTP status with which a provider refuses the request.
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
   * The error's message. With an HTTP status: the provider's message.
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
   * The stream ends here, before the response is complete.
   */
  cut: true;
  retry?: Retry;
}
/**
 * A response with settings, such as a condition or the number of requests that it answers.
 */
export interface Rule {
  /**
   * The name of the response in reports.
   */
  name?: string;
  match?: Match;
  reply: Reply;
  /**
   * The number of requests that the response answers; 1 if absent. `any`: at least one.
   */
  times?: number | 'any';
  /**
   * true: the response may stay unused. Otherwise an unused response makes the run fail.
   */
  optional?: boolean;
  usage?: Usage;
}
/**
 * The conditions for the request. All of them must be true.
 */
export interface Match {
  user?: TextMatch;
  prompt?: TextMatch;
  output?: TextMatch;
  /**
   * The name of a tool that has returned an output since the user's last message.
   */
  tool?: string;
  /**
   * The number of tool calls that the model has made since the user's last message. 0: the first request.
   */
  calls?: number;
  /**
   * The complete name of the model, or a regular expression for it.
   */
  model?: string;
  /**
   * Names of tools that the model must be offered. An empty list: the model is offered no tools.
   */
  tools?: string[];
  /**
   * The number of the thread, from 1, in the order of the threads' first requests.
   */
  thread?: number;
  /**
   * The number of messages that the user has sent in this thread.
   */
  turn?: number;
  /**
   * The number of the request in the whole run, from 1. Retries count.
   */
  request?: number;
}
/**
 * The responses, and settings for all of them.
 */
export interface Script {
  responses: Responses;
  /**
   * `any` (the default): responses with `match` answer whenever they match, the others in order. `strict`: all responses answer only in order.
   */
  order?: 'any' | 'strict';
  chunk?: Chunk;
  delay?: Milliseconds;
}

/** The schema without notes for readers. */
export const modelScriptSchema = {"anyOf":[{"$ref":"#/definitions/Responses"},{"$ref":"#/definitions/Script"}],"definitions":{"Script":{"type":"object","required":["responses"],"additionalProperties":false,"properties":{"responses":{"$ref":"#/definitions/Responses"},"order":{"enum":["any","strict"]},"chunk":{"$ref":"#/definitions/Chunk"},"delay":{"$ref":"#/definitions/Milliseconds"}}},"Responses":{"type":"array","minItems":1,"items":{"$ref":"#/definitions/Response"}},"Response":{"anyOf":[{"$ref":"#/definitions/Reply"},{"$ref":"#/definitions/Rule"}]},"Reply":{"anyOf":[{"$ref":"#/definitions/Step"},{"type":"array","minItems":1,"items":{"$ref":"#/definitions/Step"}}]},"Rule":{"type":"object","required":["reply"],"additionalProperties":false,"properties":{"name":{"type":"string","minLength":1},"match":{"$ref":"#/definitions/Match"},"reply":{"$ref":"#/definitions/Reply"},"times":{"anyOf":[{"type":"integer","minimum":1,"maximum":1000000},{"enum":["any"]}]},"optional":{"type":"boolean"},"usage":{"$ref":"#/definitions/Usage"}}},"Match":{"type":"object","minProperties":1,"additionalProperties":false,"properties":{"user":{"$ref":"#/definitions/TextMatch"},"prompt":{"$ref":"#/definitions/TextMatch"},"output":{"$ref":"#/definitions/TextMatch"},"tool":{"type":"string","minLength":1},"calls":{"type":"integer","minimum":0},"model":{"type":"string","minLength":1},"tools":{"type":"array","items":{"type":"string","minLength":1}},"thread":{"type":"integer","minimum":1},"turn":{"type":"integer","minimum":1},"request":{"type":"integer","minimum":1}}},"TextMatch":{"anyOf":[{"type":"string","minLength":1},{"type":"object","required":["is"],"additionalProperties":false,"properties":{"is":{"type":"string"}}}]},"Step":{"anyOf":[{"type":"string"},{"$ref":"#/definitions/MessageStep"},{"$ref":"#/definitions/ReasoningStep"},{"$ref":"#/definitions/CallStep"},{"$ref":"#/definitions/CustomCallStep"},{"$ref":"#/definitions/PlanStep"},{"$ref":"#/definitions/ItemStep"},{"$ref":"#/definitions/WaitStep"},{"$ref":"#/definitions/HangStep"},{"$ref":"#/definitions/ErrorStep"},{"$ref":"#/definitions/CutStep"}]},"MessageStep":{"type":"object","required":["message"],"additionalProperties":false,"properties":{"message":{"anyOf":[{"type":"string"},{"type":"array","minItems":1,"items":{"type":"string"}}]},"phase":{"enum":["commentary","partial_answer","final_answer"]},"chunk":{"$ref":"#/definitions/Chunk"},"delay":{"$ref":"#/definitions/Milliseconds"}}},"ReasoningStep":{"type":"object","required":["reasoning"],"additionalProperties":false,"properties":{"reasoning":{"anyOf":[{"$ref":"#/definitions/Parts"},{"type":"object","minProperties":1,"additionalProperties":false,"properties":{"summary":{"$ref":"#/definitions/Parts"},"raw":{"$ref":"#/definitions/Parts"}}}]},"chunk":{"$ref":"#/definitions/Chunk"},"delay":{"$ref":"#/definitions/Milliseconds"}}},"CallStep":{"type":"object","required":["call"],"additionalProperties":false,"properties":{"call":{"type":"string","minLength":1},"arguments":{"anyOf":[{"type":"object"},{"type":"string"}]},"id":{"type":"string","minLength":1}}},"CustomCallStep":{"type":"object","required":["call","input"],"additionalProperties":false,"properties":{"call":{"type":"string","minLength":1},"input":{"type":"string"},"id":{"type":"string","minLength":1}}},"PlanStep":{"type":"object","required":["plan"],"additionalProperties":false,"properties":{"plan":{"type":"object","minProperties":1,"additionalProperties":{"enum":["pending","in_progress","completed"]}},"explanation":{"type":"string"}}},"ItemStep":{"type":"object","required":["item"],"additionalProperties":false,"properties":{"item":{"type":"object","required":["type"],"properties":{"type":{"type":"string","minLength":1}}}}},"WaitStep":{"type":"object","required":["wait"],"additionalProperties":false,"properties":{"wait":{"$ref":"#/definitions/Milliseconds"}}},"HangStep":{"type":"object","required":["hang"],"additionalProperties":false,"properties":{"hang":{"const":true}}},"ErrorStep":{"type":"object","required":["error"],"additionalProperties":false,"properties":{"error":{"anyOf":[{"enum":["badRequest","contextWindowExceeded","cyberPolicy","flexUnavailable","inferenceHookDenied","internalServerError","misalignmentPolicyViolation","modelNotFound","other","policyCapacityUnavailable","rateLimitExceeded","sandboxError","serverOverloaded","sessionBudgetExceeded","tooManyDenials","unauthorized","usageLimitExceeded","httpConnectionFailed","responseStreamConnectionFailed","responseStreamDisconnected","responseTooManyFailedAttempts"]},{"type":"integer","minimum":300,"maximum":599}]},"text":{"type":"string","minLength":1},"details":{"type":"string"},"retry":{"$ref":"#/definitions/Retry"}}},"CutStep":{"type":"object","required":["cut"],"additionalProperties":false,"properties":{"cut":{"const":true},"retry":{"$ref":"#/definitions/Retry"}}},"Retry":{"anyOf":[{"type":"boolean"},{"type":"integer","minimum":0,"maximum":86400000}]},"Usage":{"anyOf":[{"enum":["none"]},{"type":"object","required":["input","output"],"additionalProperties":false,"properties":{"input":{"$ref":"#/definitions/Tokens"},"cached":{"$ref":"#/definitions/Tokens"},"output":{"$ref":"#/definitions/Tokens"},"reasoning":{"$ref":"#/definitions/Tokens"}}}]},"Tokens":{"type":"integer","minimum":0,"maximum":1000000000000},"Parts":{"anyOf":[{"type":"string"},{"type":"array","minItems":1,"items":{"type":"string"}}]},"Chunk":{"anyOf":[{"type":"integer","minimum":1,"maximum":1000000},{"enum":["word","all"]}]},"Milliseconds":{"type":"integer","minimum":0,"maximum":86400000}}};
