"""Which results are deleted after a change of the config."""

from pathlib import Path

from abovechance.results.outdated import LIST, delete_outdated, list_results


def files(folder: Path, *names: str) -> list[Path]:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return [folder / name for name in names]


def names_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {LIST}


def test_results_of_all_configs_that_were_begun_are_deleted(tmp_path):
    folder = tmp_path / "s"
    first, killed, last = (
        [folder / "config.yaml", folder / "accuracy" / f"{model}.parquet"] for model in ("a", "b", "c")
    )
    for results in (first, killed, last):
        list_results(folder, results)
        files(folder, *(path.relative_to(folder).as_posix() for path in results))
    files(folder, "accuracy/mine.parquet")
    assert delete_outdated(folder, last, []) == [first[1], killed[1]]
    assert names_in(folder) == {"config.yaml", "accuracy/c.parquet", "accuracy/mine.parquet"}
    assert delete_outdated(folder, last, []) == []
    assert (folder / LIST).read_text() == "accuracy/c.parquet\nconfig.yaml\n"


def test_stored_scores_inputs_and_files_that_were_never_listed_are_kept(tmp_path):
    folder = tmp_path / "s"
    results = files(folder, "config.yaml", "scores/m/t/0-shot.parquet", "tasks/t.parquet", "tables/x.csv")
    list_results(folder, results)
    assert delete_outdated(folder, results[:1], [tmp_path / "s" / ".." / "s" / "tasks" / "t.parquet"]) == [
        folder / "tables" / "x.csv"
    ]
    assert names_in(folder) == {"config.yaml", "scores/m/t/0-shot.parquet", "tasks/t.parquet"}


def test_nothing_outside_of_the_folder_is_deleted(tmp_path):
    folder, outside = tmp_path / "s", tmp_path / "outside"
    files(outside, "mine.parquet", "accuracy/a.parquet")
    results = files(folder, "config.yaml")
    (folder / "accuracy").symlink_to(outside / "accuracy")
    list_results(folder, [*results, folder / "accuracy" / "a.parquet"])
    with (folder / LIST).open("a") as file:
        file.write(f"../outside/mine.parquet\n{outside / 'mine.parquet'}\n")
    assert delete_outdated(folder, results, []) == []
    assert names_in(outside) == {"mine.parquet", "accuracy/a.parquet"}


def test_without_a_list_or_a_local_folder_nothing_is_deleted(tmp_path):
    folder = tmp_path / "s"
    results = files(folder, "config.yaml", "tables/x.csv")
    assert delete_outdated(folder, results[:1], []) == []
    list_results(folder, results)
    assert delete_outdated(folder, [tmp_path / "elsewhere" / "config.yaml"], []) == []
    assert names_in(folder) == {"config.yaml", "tables/x.csv"}
