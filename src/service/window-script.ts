import type { Shared } from './token-window.ts';

/** What a process asks of the window in Redis, and tells the others. Times in milliseconds. */
export interface WindowRequest extends Shared {
  /** The state that the process knows, or ''; and the name of a new one, if there is none. */
  readonly epoch: string;
  readonly newEpoch: string;
  /** As in `Allowance`. */
  readonly requests: number;
  readonly windowMs: number;
  readonly distanceMs: number;
  /** The longest duration of a request. */
  readonly timeoutMs: number;
  /** When tokens are answered at the latest, from now on (0 or less: they were answered). */
  readonly tokens: Readonly<Record<string, number | 'unused'>>;
  /** The token that it asks for. */
  readonly want?: string;
  /** Counts the tokens answered at most this long ago. */
  readonly sinceMs?: number;
}

/** `limit` is 0 if no process has seen it. */
export interface WindowReply extends Required<Shared> {
  readonly epoch: string;
  /** There was no state at all. */
  readonly isNew: boolean;
  readonly kind: 'none' | 'granted' | 'rate' | 'paused' | 'probe' | 'lost';
  readonly waitMs: number;
  /** Tokens in flight or answered since `sinceMs`. */
  readonly own: number;
}

/**
 * The only user of the window: one atomic script. Times are those of the Redis server, the only clock that all processes
 * share; if it was set back, all stored times are moved back by as much.
 *
 * KEYS[1], a sorted set: the tokens, scored by when their requests were or will be answered at the latest.
 * KEYS[2], a hash: `epoch` and `created` of this state; `limit` and `refusals`, as told; `until`, the end of a pause; `last`,
 * when a token was last granted; `kept`, for how long tokens are kept after their answer; `clock`, the latest time seen.
 */
export const WINDOW_SCRIPT = `
local tokens, state, ask = KEYS[1], KEYS[2], cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function get(field) return tonumber(redis.call('HGET', state, field) or '') or 0 end
local function raise(field, value) if value > get(field) then redis.call('HSET', state, field, value) end end
local function count(from) return redis.call('ZCOUNT', tokens, '(' .. from, '+inf') end

local behind = get('clock') - now
if behind > 1000 then
  local all = redis.call('ZRANGE', tokens, 0, -1, 'WITHSCORES')
  for i = 1, #all, 2 do redis.call('ZADD', tokens, all[i + 1] - behind, all[i]) end
  for _, field in ipairs({'created', 'until', 'last'}) do
    if get(field) > 0 then redis.call('HSET', state, field, get(field) - behind) end
  end
end
redis.call('HSET', state, 'clock', now)

local epoch = redis.call('HGET', state, 'epoch')
local isNew = not epoch
if isNew then
  epoch = ask.newEpoch
  redis.call('HSET', state, 'epoch', epoch, 'created', now)
end
-- The requests sent before are not known: all of them must have left the window.
local isLost = ask.epoch ~= '' and ask.epoch ~= epoch
if isLost then raise('until', get('created') + ask.timeoutMs + ask.windowMs) end

for token, ms in pairs(ask.tokens) do
  if ms == 'unused' then redis.call('ZREM', tokens, token) else redis.call('ZADD', tokens, now + ms, token) end
end
if ask.limit then redis.call('HSET', state, 'limit', ask.limit) end
if ask.refusals then redis.call('HSET', state, 'refusals', ask.refusals) end
if ask.pauseMs then raise('until', now + ask.pauseMs) end
-- A process with a longer window may share the key.
raise('kept', math.max(ask.windowMs, 60000) + ask.timeoutMs + 1000)
redis.call('ZREMRANGEBYSCORE', tokens, '-inf', now - get('kept'))

local function refusal()
  if isLost then return 'lost', 0 end
  if get('until') > now then return 'paused', get('until') - now end
  -- After a 429, a single request is sent first.
  if get('refusals') > 0 and count(now) > 0 then return 'probe', 50 end
  local from = now - ask.windowMs
  local used = count(from)
  if used >= ask.requests then
    local from, offset = '(' .. from, used - ask.requests
    local oldest = redis.call('ZRANGEBYSCORE', tokens, from, '+inf', 'WITHSCORES', 'LIMIT', offset, 1)[2]
    -- A request in flight may be answered soon.
    return 'rate', math.min(oldest + ask.windowMs - now, ask.windowMs)
  end
  if ask.distanceMs > 0 and get('last') + ask.distanceMs > now then return 'rate', get('last') + ask.distanceMs - now end
end

local kind, wait = 'none', 0
if ask.want then
  -- It may have been granted before, and the reply lost.
  redis.call('ZREM', tokens, ask.want)
  kind, wait = refusal()
  if not kind then
    kind, wait = 'granted', 0
    redis.call('ZADD', tokens, now + ask.timeoutMs, ask.want)
    redis.call('HSET', state, 'last', now)
  end
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, 24 * 60 * 60 * 1000 + get('kept')) end
return cjson.encode({
  epoch = epoch, isNew = isNew, kind = kind, waitMs = math.ceil(wait), limit = get('limit'), refusals = get('refusals'),
  pauseMs = math.max(0, get('until') - now), own = ask.sinceMs and count(now - ask.sinceMs) or 0,
})
`;
