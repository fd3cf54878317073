"""The first token of a choice, and texts that look like special tokens."""

import pytest
from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast, XGLMTokenizer

from abovechance.core.errors import InputError
from abovechance.scoring.tokens import PromptStrings, tokenize
from abovechance.scoring.weights import keeps_length

CODE = ["def f(x):\n    return x\nif x:\n    pass\n"] * 50
PROCESSORS = {
    "bytes": lambda trim: processors.ByteLevel(trim_offsets=trim),
    "roberta": lambda trim: processors.RobertaProcessing(("a", 1), ("b", 2), trim_offsets=trim),
    "sequence": lambda trim: processors.Sequence(
        [
            processors.ByteLevel(trim_offsets=trim),
            processors.TemplateProcessing(single="a $A", special_tokens=[("a", 1)]),
        ]
    ),
}


def of_code(splitting: pre_tokenizers.PreTokenizer) -> Tokenizer:
    """A byte-level tokenizer in which a newline and the blanks behind it are a token."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = splitting
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=340, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(CODE, trainer)
    return tokenizer


@pytest.mark.parametrize("trim", [True, False])
@pytest.mark.parametrize("name", PROCESSORS)
def test_a_token_that_ends_in_a_blank_of_the_choice_is_the_choices(name, trim):
    backend = of_code(pre_tokenizers.ByteLevel(add_prefix_space=False))
    backend.post_processor = PROCESSORS[name](trim)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend)
    strings = PromptStrings(("e",) * 2, (0, 1), ("def f(x):\n",) * 2, ("    return x", " pass"))
    tokens = tokenize(tokenizer, strings)
    of_choices = [
        tokenizer.convert_ids_to_tokens(sequence[start:])
        for sequence, start in zip(tokens.sequences, tokens.starts, strict=True)
    ]
    # the newline is before the second choice only: in the first, it is a token with blanks of the choice
    assert of_choices == [["ĊĠĠĠ", "Ġreturn", "Ġx"], ["Ġpass"]]


def test_a_lone_blank_of_a_choice_is_nothing_that_the_model_reads():
    backend = of_code(pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(False)]))
    backend.post_processor = processors.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend)
    with pytest.raises(InputError, match="the model reads nothing before its choices"):
        tokenize(tokenizer, PromptStrings(("e",) * 2, (0, 1), ("", ""), (" 5", " 6")))


def test_a_text_that_the_vocabulary_takes_for_a_special_token_is_no_text():
    names = ["<s>", "<pad>", "</s>", "<unk>"]
    letters = [(letter, -4.0) for letter in "▁A:yesno</>"]
    tokenizer = XGLMTokenizer(vocab=[*((name, 0.0) for name in names), *letters])

    def tokens(choice: str, special_tokens: str) -> list[str]:
        strings = PromptStrings(("e",), (0,), ("A:",), (choice,))
        (sequence,) = tokenize(tokenizer, strings, special_tokens).sequences
        return tokenizer.convert_ids_to_tokens(sequence)

    with pytest.raises(InputError, match="example 'e', choice 0: the tokenizer reads '</s>' as its special"):
        tokens(" yes </s> no", "text")
    with pytest.raises(InputError, match="the tokenizer reads '<unk>' as its special"):
        tokens(" yes <unk> no", "text")
    assert tokens(" yes €", "text")[-1] == "<unk>"  # a character that it does not know
    assert tokens(" yes </s> no", "read").count("</s>") == 2  # one is put before all
    assert tokens(" yes no", "text").count("</s>") == 1


@pytest.mark.parametrize(
    ("splitting", "keeps"),
    [
        (pre_tokenizers.ByteLevel(add_prefix_space=False), True),
        (pre_tokenizers.ByteLevel(add_prefix_space=True), False),
        (pre_tokenizers.Metaspace(prepend_scheme="always"), False),
        (pre_tokenizers.Metaspace(prepend_scheme="never"), True),
        (pre_tokenizers.Whitespace(), True),
    ],
)
def test_blanks_before_each_part_of_a_text_make_it_longer(splitting, keeps):
    backend = Tokenizer(models.Unigram([("<unk>", 0.0), *((letter, -4.0) for letter in "▁z")], unk_id=0))
    backend.pre_tokenizer = splitting
    backend.add_tokens([AddedToken("\n", normalized=False)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend)
    assert keeps_length(tokenizer) == keeps
    if keeps:
        assert len(tokenizer("\nz" * 24)["input_ids"]) <= 48
