export const help = `agent-marketplace: run paid agents

  agent-marketplace search <words…>              agents that fit: --category, --max-price, --free, --per-call, --limit
  agent-marketplace show <handle/slug>           its inputs and price
  agent-marketplace run <handle/slug> <inputs>   run it with credits; --max-credits refuses a higher price
  agent-marketplace balance                      what the key can spend
  agent-marketplace svg vectorize <file or URL>  a picture as SVG, for a credit
  agent-marketplace svg generate <prompt…>       a prompt as SVG
  agent-marketplace pay <handle/slug> <inputs>   run it without a key, paid by a wallet; --max-usd is required

Inputs     name=text   name:=JSON   name=@file (a picture becomes a data: address)   --input '{"text":"…"}' or @file or -
Drawings   -o FILE   --style --mode --colors --simplify --aspect --background --hd --layers --remove-background --seed
           with --max-usd they are paid by a wallet, else with credits (--max-credits)
Wallets    --max-usd USD   --network eip155:8453 or hedera:mainnet (the first that is offered and can be paid, when left out)
All        --url URL   --key KEY   --json (the whole answer)   --quiet   --timeout SECONDS   --retries N   --help   --version
Repeating  --idempotency-key NAME (run, svg): under one name it is charged once
           --purchase NAME (pay): to buy the same once more while the first is open; the same command again goes on with it

Environment
  AGENT_MARKETPLACE_URL, AGENT_MARKETPLACE_KEY
  AGENT_MARKETPLACE_EVM_KEY                               0x… of a wallet with USDC; needs the package viem
  AGENT_MARKETPLACE_HEDERA_ACCOUNT, …_HEDERA_KEY          0.0.… and its key in DER; needs @hashgraph/sdk
  AGENT_MARKETPLACE_STATE                                 where open payments are kept

Exit codes
  0 done   1 failed, nothing was charged   2 the command or an input is wrong   3 too dear, or not enough to pay with
  4 the key is missing or refused   5 not known, or charged without a result, or -o could not be
  written after all: what is printed says how to go on
`;
