"""What Samovar is and does."""

from corpus.fact import fact

SAMOVAR = (
    fact("what Samovar is", "Samovar is a local server for language models that keeps long conversations warm.", """
what is [Samovar|samovar|a samovar|this server|this program]
[what's|whats] Samovar
[tell me|say|explain] [what Samovar is|about Samovar|something about Samovar|more about Samovar|Samovar]
what [kind|sort] of [program|software|server|thing] is Samovar
do you know [Samovar|what Samovar is]
[explain|describe] Samovar[| to me]
what does the word Samovar [stand for|mean here]
is Samovar a [server|program|model|tool|teapot]
have you heard of Samovar
what do you know about Samovar
I have never heard of Samovar
what exactly is Samovar
Samovar
give me a [short |]description of Samovar
""",
          "Samovar|the program Samovar|the server Samovar|the thing called Samovar",
          "what Samovar is|what kind of program Samovar is|what a samovar is|what this server is"),
    fact("what Samovar does", "Samovar computes only what is new in a conversation, even after a restart.", """
what does Samovar do
what can Samovar do
what is [special|new|good|different|great] about Samovar
what makes Samovar [special|different|better|fast]
why [should|would|do] [I|people|anyone] use Samovar
why is Samovar [fast|useful|good|better]
what is the [point|use|advantage|benefit|idea|purpose|trick] of Samovar
what is Samovar [good|used|made] for
how does Samovar [work|help|help me|save time|make things fast]
what do I [get|gain] from Samovar
what problem does Samovar solve
what [good|use] is Samovar
how is Samovar different from [other servers|others]
[explain|tell me] [what Samovar does|how Samovar works|why Samovar is fast]
""",
          "the use of Samovar|the advantage of Samovar|the point of Samovar|the benefit of Samovar|the idea of Samovar|the work of Samovar",
          "what Samovar does|why Samovar is fast|why I should use Samovar|what Samovar is good for|how Samovar works|what is special about Samovar|how Samovar saves time"),
    fact("why it is called Samovar", "A samovar keeps water hot for whoever comes back, as Samovar keeps conversations warm.", """
why is [it|Samovar|this|the server] called Samovar
why the name Samovar
where does the name Samovar come from
what does Samovar mean
who [thought of|chose] the name Samovar
what does [the name|the word] [Samovar|samovar] mean
what is the [meaning|origin|story] of the name[| Samovar]
what has [a samovar|Samovar|it] to do with tea
why do they call it Samovar
is there a reason for the name Samovar
explain the name Samovar
""",
          "the name Samovar|the meaning of the name Samovar|the origin of the name Samovar|the word Samovar|the reason for the name Samovar",
          "why it is called Samovar|what the name Samovar means|where the name Samovar comes from|why they chose the name Samovar"),
    fact("the license", "Samovar has the Apache 2.0 license.", """
[what|which] license does Samovar [have|use]
what is the license of Samovar
[is|was] Samovar [free|open source|free software|open|commercial]
under [what|which] license is Samovar
may I [use|copy|change|sell|share] Samovar
how much does Samovar cost
does Samovar cost [money|anything|something]
do I have to pay for Samovar
is the source [code |]of Samovar open
the license
how is Samovar licensed
""",
          "the license|the license of Samovar|the price of Samovar|the cost of Samovar|Samovar's license",
          "which license Samovar has|whether Samovar is free|what Samovar costs|if Samovar is open source|whether I may change Samovar|how Samovar is licensed"),
    fact("the language of Samovar", "Samovar is written in C++.", """
[which|what] [programming |]language is Samovar [written|made|programmed] in
in [which|what] [programming |]language is Samovar [written|made|programmed]
is Samovar written in [C|C++|Python|Rust|Go|Java]
what is Samovar written in
how is Samovar [written|programmed]
what language was used for Samovar
which language did they [write|use for] Samovar in
""",
          "the programming language of Samovar|the language Samovar is written in|the source language of Samovar|Samovar's programming language|the code of Samovar",
          "which language Samovar is written in|what Samovar is written in|what language Samovar uses|in which language they wrote Samovar"),
    fact("the engine", "Samovar computes with llama.cpp.", """
[which|what] engine does Samovar use
what does Samovar [use|need] to [compute|run models|run the model]
does Samovar use [llama.cpp|PyTorch|llama|an engine]
what is [under|behind|inside] Samovar
what library does Samovar [use|build on|stand on|rest on]
on [what|which library] is Samovar [built|based]
what runs the models in Samovar
who computes the tokens in Samovar
is llama.cpp [in|inside|part of] Samovar
what is the engine of Samovar
""",
          "the engine of Samovar|the engine inside Samovar|the library inside Samovar|Samovar's engine|llama.cpp in Samovar",
          "which engine Samovar uses|what Samovar computes with|what runs the models|which library Samovar is built on"),
    fact("the models", "Samovar serves hybrid models such as Qwen3.5, and plain transformers too.", """
[which|what] models [does Samovar serve|can Samovar run|can I use|work with Samovar|does Samovar support|does it support|are supported]
can Samovar [run|serve|load] [Qwen|Llama|hybrid models|large models|other models|transformers|my model]
does Samovar [support|work with|run] [Qwen|Llama|hybrid models|large models|transformers|my model]
what kind of models [does Samovar need|can I use|does Samovar run]
is [Qwen|Llama|Granite|Gemma] supported[| by Samovar]
for [which|what] models is Samovar[| made]
which models are possible
""",
          "the models of Samovar|the supported models|models for Samovar|the models that Samovar runs",
          "which models Samovar serves|what models I can use|which models work with Samovar|whether Samovar runs Qwen|if my model works with Samovar"),
    fact("the file format", "Models are GGUF files.", """
[which|what] [file |]format [do models have|does Samovar read|must a model have|do the models need|do models need]
what is a GGUF[| file]
what files does Samovar [read|load|need|understand]
in [which|what] format are the models
what kind of file is a model
does Samovar read [GGUF|safetensors|GGUF files]
what must a model file look like
the format of models
""",
          "the file format|the format of models|GGUF|model files|the format of the files",
          "what format models have|which files Samovar reads|what a model file looks like|which file format I need"),
    fact("the address", "Samovar listens at http://127.0.0.1:8080.", """
[which|what] [port|address] does Samovar [use|have|listen on|listen at]
what is the [port|address|URL] [of Samovar|of the server|of the API]
where does [Samovar|the server] listen
on [which|what] [port|address] [is|runs|does] Samovar[| listen]
[what's|whats] the [port|address|URL]
where [is the API|can I reach the server|do I find the API|can I reach Samovar]
how do I reach [the API|Samovar|the server]
[the|which] port
to which [address|URL] do I send requests
""",
          "the address|the port|the address of the server|the URL of Samovar|the port of Samovar|the server's address",
          "where Samovar listens|which port Samovar uses|at which address the server is|how I reach the server|what the address is|which port the server has"),
    fact("the API", "Samovar speaks the APIs of OpenAI and Anthropic.", """
[which|what] [API|APIs|protocol|interfaces] does Samovar [speak|have|support|offer|use]
is Samovar compatible with [OpenAI|Anthropic|other clients]
does Samovar [speak|support|have] [the OpenAI API|the API of OpenAI|the Anthropic API|an API|OpenAI|Anthropic]
how do [programs|clients|agents] talk to Samovar
can I use [OpenAI clients|the OpenAI library|my client] with Samovar
what is the API of Samovar
which API can my program use
""",
          "the API|the APIs of Samovar|the API of Samovar|the protocol|Samovar's API",
          "which API Samovar speaks|whether Samovar speaks the OpenAI API|what APIs Samovar has|how programs talk to Samovar"),
    fact("the agents", "opencode, Qwen Code, pi, Claude Code and Codex work with Samovar.", """
[which|what] [agents|coding agents|assistants] work with Samovar
[which|what] [agents|coding agents] can I use[| with Samovar]
does Samovar work with [agents|coding agents|Claude Code|Codex|opencode|Qwen Code]
can I use [Claude Code|Codex|opencode|Qwen Code|an agent|coding agents] with Samovar
for which agents is Samovar made
[are|is] [coding agents|Claude Code|Codex|opencode] supported
is there support for agents
""",
          "the agents|coding agents|agents for Samovar|the supported agents|agents and Samovar",
          "which agents work with Samovar|what agents I can use|whether Claude Code works|which coding agents are supported|if Codex works"),
    fact("where sessions are kept", "Sessions are kept in ~/.cache/samovar/store.", """
where [are|does Samovar keep|are kept] [the |my |]sessions[| kept| stored]
where is the store
[in which|in what|which] [folder|directory] [are the sessions|is the store]
where does Samovar [store|save|write] [data|sessions|conversations|things|its data]
[what|which] folder does Samovar [use|write to]
where on [the|my] disk are [the |my |]sessions
the folder of the store
where do [sessions|conversations] lie
""",
          "the place of the sessions|the folder of the sessions|the store's folder|the folder of the store|the place where sessions lie",
          "where sessions are kept|where the store is|in which folder the sessions are|where Samovar writes its data|where the sessions are saved"),
    fact("what happens after a crash", "After a crash, Samovar goes on from what is on disk.", """
what happens [after|in case of|if there is|when there is] a [crash|power cut|restart|reboot]
what if [the server|Samovar|my computer|the machine] [crashes|dies|is killed|stops]
does Samovar survive [a crash|crashes|a restart|a power cut|a reboot]
do I lose [my conversation|my session|anything|something|everything] [after|in|by] a [crash|restart]
is [anything|my session|something|everything] lost [after|in|by] a [crash|restart|power cut]
what about [crashes|a crash|power cuts]
how does Samovar handle [crashes|a crash|a power cut]
what remains after a crash
will Samovar remember after a [crash|restart]
""",
          "crashes|a crash|a crash of the server|power cuts|restarts|the time after a crash",
          "what happens after a crash|whether I lose my session in a crash|if Samovar survives a restart|what a crash does|what is lost in a crash|what happens if the server dies"),
    fact("why a turn missed", "Every miss is explained in the response, with its cause and remedy.", """
why [did my turn miss|was nothing reused|was the cache missed|is there a miss]
what is a miss
how do I [know|see|learn|find out] why [it|a turn|the cache] missed
does Samovar [explain|tell me about] [misses|a miss|cache misses]
what happens when the [cache|prefix] [misses|does not match]
where are misses explained
why was my prompt computed again
how are misses explained
""",
          "misses|a miss|cache misses|the reason of a miss|the cause of a miss",
          "why my turn missed|why nothing was reused|how I find out why the cache missed|what a miss is|why the prompt was computed again"),
    fact("security", "Samovar listens on loopback only, unless you set a key.", """
is Samovar [safe|secure]
how [safe|secure] is Samovar
can others [use|reach|see] my [server|Samovar]
do I need [a key|an API key|a password][| for Samovar]
is there [a key|a password|protection]
what about security
who can reach [the server|Samovar|my server]
how is Samovar protected
can the server be reached from outside
""",
          "security|the security of Samovar|the safety of the server|protection|the protection of the server",
          "whether Samovar is safe|who can reach my server|if the server is secure|how safe Samovar is|whether others can use my server|if I need a key"),
)
