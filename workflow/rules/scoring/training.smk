"""Small models, trained from scratch, a job for each seed.

in:  nothing but code: texts are made
out: results/weights/<weights>/weights.json of each checkpoint
"""

for number, members_of_training in enumerate(trainings(), start=1):

    rule:
        name:
            f"train_{number}"
        output:
            **weights_output([*map(weights_id, members_of_training)]),
        log:
            f"{WEIGHTS}/logs/{weights_id(members_of_training[0])}-training.log",
        priority: 50
        conda:
            "../../../envs/scoring.yaml"
        threads: STUDY["scoring"]["threads"]
        params:
            seed=trained(members_of_training[0])["seed"],
            width=trained(members_of_training[0])["width"],
            layers=trained(members_of_training[0])["layers"],
            # Snakemake does not record functions of the output, so fewer steps are no reason to train again
            steps=lambda wildcards, output, members=members_of_training: [
                trained(model)["step"] for model in members
            ],
            code=code_of("train.py"),
        script:
            "../../scripts/train.py"
